"""Data sets that are made of other data sets; `labdl.data.Dataset` has a method for each."""
