"""Words and sentences of the data view that pages translate."""

MEASURES = ("width", "height", "seconds", "frames", "objects", "characters", "tokens")  # names of histograms
LATE = "This page takes too long to read: show fewer samples."
NO_FOLDER = "Data sets can be shown only if Jupyter serves a local folder."
TEXTS = (*MEASURES, LATE, NO_FOLDER)
