"""Datasets: certificates and latents as rows of Parquet, on this machine or wherever fsspec and pyarrow reach.

`docs/scale.md` describes the format. The modules here load pyarrow, fsspec and torch only where they use them.
"""
