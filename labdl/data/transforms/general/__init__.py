"""Transforms of transforms, and of parts of any kind."""
