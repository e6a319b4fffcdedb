"""What things cost, as ratios of two things measured side by side: ``python -m tests.benchmarks [NAME…]``.

Not part of the test suite: a figure is worth reading, a threshold on a shared machine is not.
"""
