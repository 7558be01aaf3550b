"""Certificates with known verdicts, as they are stored, and mutants of them."""
