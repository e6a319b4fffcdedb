"""The mistakes that are recognized, one family a file; `syntax_errors` tries them in order."""
