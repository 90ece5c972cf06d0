"""Transforms of tables, fitted to the training part."""
