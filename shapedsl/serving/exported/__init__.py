"""Exported programs and packages behind the same choice, and the one file that holds them."""
