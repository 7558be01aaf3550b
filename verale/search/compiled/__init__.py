"""The search on the CPU: machine code."""
