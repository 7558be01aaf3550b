"""Data at scale: certificates as rows of Parquet, and the same work as Ray Data pipelines (docs/scale.md).

Every file here loads pyarrow, fsspec, Ray and torch only where it uses them.
"""
