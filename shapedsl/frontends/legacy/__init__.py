"""Old ways to say which dims vary → IR: one old format per file, one model that they all become, one conversion."""
