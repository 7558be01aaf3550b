"""Lemmas, one file each, proved by Z3; `lemma.py` says what that means."""
