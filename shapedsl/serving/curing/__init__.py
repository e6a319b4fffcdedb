"""Find the assumptions under which a callable can be traced: trace, read what was asked, add what decides it, again."""
