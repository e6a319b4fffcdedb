"""Which calls of a file use a legacy spec, and what each says, in the one model: a recognizer per format."""
