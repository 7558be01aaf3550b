"""A second reading of certificates/v1.md, which shares nothing with the checker."""
