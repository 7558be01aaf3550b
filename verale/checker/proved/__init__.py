"""The kernel `proved`: a checker that is proved right in Rocq, extracted to OCaml (`proofs/rocq`), and asked from here.

Files are read by this package's readers, which is what they have to be right for: steps 1 to 4 of certificates/v1.md.
What is claimed goes to a program as integers (`text`), and it answers (`dialogue`): the executable, or where there is
none the same as JavaScript (`program`). Either is a process of its own.
"""
