"""Random systems of constraints, answered by the decision procedure and by oracles: ``python -m tests.fuzz``."""
