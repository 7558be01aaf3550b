"""A second reading of certificates/v1.md, which shares nothing with the checker nor with `verale.head`.

Write: `files` (heads, latents and certificates, built or broken). Read: `readers` (JSON, tensors, latents), `head` (a
head from its bytes; it evaluates itself), `claim` (what a certificate claims, and whether it is true of its image),
`witnesses` (latents that might refute it). `parts` has one table for each part of a head; `arithmetic` the rationals
and balls beneath.
"""
