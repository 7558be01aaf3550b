"""Who does the work of a run: processes of this machine, or workers of a Ray cluster. Any of them may die."""
