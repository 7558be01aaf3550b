"""What a network is, from the picture to the latents: frozen data and its file (certificates/network-v1.md)."""

from verale.network.network import PICTURE, FrozenNetwork, walk

__all__ = ["PICTURE", "FrozenNetwork", "walk"]
