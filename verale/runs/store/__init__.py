"""Where a run's results are: a folder of certificates with a table, or a dataset in Parquet."""
