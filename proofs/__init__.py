"""Lemmas, one a file, proved by Z3; `lemma.py` says what that means."""
