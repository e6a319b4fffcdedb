"""Python source that holds legacy specs → the same source with new ones, and the specs: nothing is imported or run."""
