"""The callables that torch sees: generated functions, one file a torch entry point."""
