"""Texts of files: lines, JSON, CSV, XML and Parquet, folders of classes, and aligned files."""
