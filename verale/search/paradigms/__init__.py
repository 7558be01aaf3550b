"""Paradigms: each is an object that proposes explanations and proves statements; a file a paradigm."""
