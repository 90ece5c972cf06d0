"""Decoders and encoders of pictures, sounds and clips."""
