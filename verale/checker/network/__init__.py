"""The network of a certificate that speaks of a picture (certificates/network-v1.md): its layers, its file, and an
enclosure of the latents that it gives."""

from .layers import Layer, Network
from .network_file import LARGEST, read_network

__all__ = ["LARGEST", "Layer", "Network", "read_network"]
