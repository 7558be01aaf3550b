"""CaBRNet run directories: heads, read without CaBRNet, and networks from images to latents, which need CaBRNet."""

from verale.adapters.cabrnet.heads import load_head
from verale.adapters.cabrnet.network import BATCH, Captured, Network, load
from verale.adapters.fields import Origin

__all__ = ["BATCH", "Captured", "Network", "Origin", "load", "load_head"]
