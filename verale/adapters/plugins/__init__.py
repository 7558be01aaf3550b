"""Modules that CaBRNet 1.2 loads by name from a model's YAML; importing them needs the `cabrnet` extra.

They let `cabrnet train` make, and verale load, the architectures of "Beyond L2" that CaBRNet lacks. Their
tensors have the names and shapes of the papers' own modules, `beyond_l2_ext`, so either's run directories load here.
"""
