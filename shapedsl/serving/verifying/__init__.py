"""What artifacts keep of a spec: promises, decided; values, compared; the report."""
