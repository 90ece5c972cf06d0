"""The frameworks' checkpoint files, read and written as data: no framework is needed, and nothing in a file is executed."""
