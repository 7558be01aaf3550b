"""Benchmarks: verale beside the papers' explainers, on the same heads and latents, in the same run."""
