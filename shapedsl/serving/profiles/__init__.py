"""What sizes calls have: counted in bounded memory, kept in files, seen through a spec."""
