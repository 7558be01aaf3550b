"""Certificates with known verdicts, as they are stored."""
