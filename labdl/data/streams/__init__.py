"""Streams: data sets that are read one sample after the other, of unknown length or without an end."""
