"""Datasets: certificates and latents as rows of Parquet, here or where fsspec and pyarrow reach (docs/scale.md).

Every file here loads pyarrow, fsspec and torch only where it uses them.
"""
