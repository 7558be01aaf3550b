"""What has been published and does not hold as stated: each file refutes a statement and proves a corrected one.

`proofs/errata.md` explains them. The twins of a file are the published statement, its cases the corrected one.
"""
