"""Faults injected into copies of the checker, one a copy (`faults`), and attacks that must detect them (`attacks`)."""
