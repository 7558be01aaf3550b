"""CaBRNet run directories: their heads, without CaBRNet; their networks from images to latents, with it."""

from verale.adapters.cabrnet.heads import load_head
from verale.adapters.cabrnet.network import Network, Origin, Seen, load

__all__ = ["Network", "Origin", "Seen", "load", "load_head"]
