"""Server extension of JupyterLab: the routes for models, trainings and runs."""

from importlib.util import find_spec

if find_spec("jupyter_server") is None:
    raise ImportError('the JupyterLab extension needs jupyter-server: pip install "labdl[lab]"')
