"""Certificates with known verdicts, how they are made, and mutants of them with a judge."""
