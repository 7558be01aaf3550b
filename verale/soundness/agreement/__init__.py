"""Whether the Python checker and the proved one agree: `arb`, `mpmath` and `proved` on the same certificates.

    python -m verale.soundness.agreement --mutants-one-in 4 --emitted 10000 --out benchmarks/results/agreement.md

- `sets`: the certificates: the corpora, mutants of what they accept, what random heads and trained ones emit.
- `kernels`: the verdicts of each kernel, and its processor time.
- `compare`: which of them is stronger, and what is wrong.
- `judging`: whether the independent reading knows a claim to be false.
- `table`: what came of it, in Markdown.

Minimality is not asked for: the proof does not cover it.
"""
