"""Whether the Python checker and the proved one agree: `arb`, `mpmath` and `proved` on the same certificates.

- `sets`: the certificates: the corpora, what they accept with ends taken away, and what is emitted of random heads
  and of the demo.
- `compare`: the verdicts of each kernel, which of them is stronger, and what is wrong.

Minimality is asked for too. `python -m benchmarks.agreement`, in a clone, compares more.
"""
