"""Whether the Python checker and the proved one agree: the comparison of `verale soundness`, at any length.

    python -m benchmarks.agreement --mutants-one-in 4 --emitted 10000 --out benchmarks/results/agreement.md

`verale.soundness` has the certificates (`sets`) and the comparison (`compare`); `tally` counts, and `table` says what
came of it, in Markdown. With `--data` heads that were trained are compared too (`benchmarks.heads`).
"""
