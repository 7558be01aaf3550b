"""The soundness suite, the third job of the library: what tries to find the checker or the search in the wrong.

One file a kind of attempt: `lemmas` (Z3), `properties` (hypothesis), `emitted` (random heads explained and audited),
`corpus` (certificates with known verdicts, and mutants of them), `enclosures` (the kernels' arithmetic), `faults`
(faults injected into copies of the checker). `suite` runs them for `verale soundness`.

`handmade` and `reference` are a second reading of certificates/v1.md, which shares nothing with the checker.
"""
