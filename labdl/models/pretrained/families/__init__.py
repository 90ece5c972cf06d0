"""One file for each family: the table of its config keys and its architectures. `labdl.models` imports every file here."""
