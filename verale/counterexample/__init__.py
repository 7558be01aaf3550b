"""Counterexamples: latents that satisfy every statement of a certificate and are classified as another class."""

from verale.counterexample.search import counterexamples

__all__ = ["counterexamples"]
