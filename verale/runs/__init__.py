"""Runs: what a command does with files, from reading its inputs to a complete folder of results."""
