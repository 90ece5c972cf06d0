"""Transforms of texts and tokens."""
