"""What becomes of a file's text: edits in place, specs written anew, definitions and imports that come and go."""
