"""The readers: heads, latents, networks and pictures, from the bytes of their files to plain data.

They check what certificates/v1.md and network-v1.md say of files, and prove nothing. So who explains reads with them
too: what an audit refuses is refused before it is explained. Of this package nothing but them, and their errors, is
known there.
"""
