"""The soundness suite, the third job of the library: it tries to prove the checker or the search wrong.

`suite` runs the sections of `verale soundness`. What they try:

- `lemmas`: the lemmas of `proofs`, by Z3.
- `combinations`: random heads of every combination of parts, in turn (`python -m benchmarks.emitted`).
- `corpus`: certificates with known verdicts (accepted, rejected, malformed).
- `compare`: certificates by head: of the corpora, what they accept with ends taken away, of random heads, of the demo;
  and the verdicts of kernels on these, side by side (`python -m benchmarks.agreement`).

`paths` says where the corpora and the lemmas lie.
"""
