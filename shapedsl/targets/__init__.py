"""The only layer that imports torch: specs, entry functions, and what programs promise, read back."""
