"""Adapters: from the checkpoints people have to heads. One family of checkpoints a file."""
