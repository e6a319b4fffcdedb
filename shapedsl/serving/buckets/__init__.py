"""Padding to a few sizes: which member is chosen, what its artifact may assume, and whether padding is safe."""
