"""Certificates with known verdicts: how they are written, and mutants of them with a judge."""
