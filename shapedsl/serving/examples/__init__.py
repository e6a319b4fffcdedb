"""Inputs that satisfy a spec: structures and sizes of every variable."""
