"""The soundness suite, the third job of the library: it tries to prove the checker or the search wrong.

`suite` runs the sections of `verale soundness`, one file or room for each kind of attempt:

- `lemmas`: the lemmas of `proofs`, by Z3.
- `combinations`: random heads of every combination of parts, in turn; `random_heads` explains and audits them
  (`python -m benchmarks.emitted`).
- `corpus`: certificates with known verdicts (accepted, rejected, malformed).
- `agreement`: the verdicts of the Python checker and of the proved one, side by side.

`paths` says where the corpora and the lemmas lie.
"""
