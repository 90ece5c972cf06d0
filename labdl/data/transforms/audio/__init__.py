"""Transforms of sounds and of their spectrograms."""
