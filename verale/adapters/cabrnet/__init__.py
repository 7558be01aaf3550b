"""CaBRNet run directories: their heads, without CaBRNet; their networks from images to latents, with it."""

from verale.adapters.cabrnet.heads import load_head
from verale.adapters.cabrnet.network import BATCH, Network, Origin, Seen, load

__all__ = ["BATCH", "Network", "Origin", "Seen", "load", "load_head"]
