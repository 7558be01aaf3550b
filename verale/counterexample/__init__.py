"""The search for a counterexample: latents that satisfy every statement of a certificate and get another class."""

from verale.counterexample.search import counterexamples

__all__ = ["counterexamples"]
