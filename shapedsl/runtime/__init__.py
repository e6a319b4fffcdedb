"""What a call costs: generated plain-Python code on ints. Knows no torch and no sympy."""
