"""Certificates of random heads of every combination of parts, explained and audited until there are enough.

    python -m benchmarks.emitted --count 100000 --jobs 2 --out benchmarks/results/emitted

A case is one draw of one combination (`verale.soundness.combinations`): a head, a few images and a tolerance. `case`
explains it under every paradigm and order that the head has, and audits every certificate with its latents, minimality
included. `state` keeps one line of JSON for each case in OUT.jsonl: the same command goes on where the last one
stopped. `table` writes OUT.md from it.
"""
