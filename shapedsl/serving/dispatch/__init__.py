"""Artifacts of one callable: which there are, which one a call takes, making, running and counting them."""
