"""Messages between pages and Python as pydantic models: bodies of REST routes and comm messages of widgets.

scripts/generate_schema.py writes the TypeScript types in labextension/src/api from the modules of this package.
"""
