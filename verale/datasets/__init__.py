"""Datasets: certificates and latents as rows of Parquet (`docs/scale.md`), wherever fsspec and pyarrow reach."""
