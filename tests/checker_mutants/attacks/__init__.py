"""Properties of the checker's rules that take heads, statements or settings of many kinds to break.

Each takes what imports a module of a copy of the checker (`mutant`), whose settings it may change, and the kernel; it
returns what it finds wrong, "" for nothing. tests/soundness/test_attacks.py runs them.
"""
