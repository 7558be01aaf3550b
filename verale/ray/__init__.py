"""Ray: the work of `explain` and `audit` as Ray Data pipelines, over datasets in Parquet (docs/scale.md).

Every file here loads Ray, pyarrow and torch only where it uses them.
"""
