"""What an agent gains beyond the code, one file each, read from header fields: how long to wait."""
