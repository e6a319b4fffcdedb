"""Several artifacts of one spec: which there are, which one a call takes, what is padded, what traffic says."""
