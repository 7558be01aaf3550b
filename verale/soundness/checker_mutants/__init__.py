"""Faults planted in copies of the checker, and the attacks that have to catch them."""
