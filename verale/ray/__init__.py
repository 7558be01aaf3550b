"""Ray: `explain` and `audit` as Ray Data pipelines over datasets in Parquet (docs/scale.md).

The modules here load Ray, pyarrow and torch only where they use them.
"""
