"""Data sets of folders: a folder for each class, or files without labels."""
