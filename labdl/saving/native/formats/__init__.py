"""The frameworks' checkpoint files, read and written as data: no framework is needed, and no code in a file is executed."""
