"""Annotated modules that are read as source and imported."""
