"""Modules that CaBRNet 1.2 loads by name from a model's YAML; importing them needs the `cabrnet` extra.

With them `cabrnet train` can train, and verale can load, the architectures of "Beyond L2" that CaBRNet lacks. Their
tensors have the names and shapes of the papers' own modules, `beyond_l2_ext`, so the run directories of both load here.
"""
