"""What a network is, from the picture to the latents: frozen data and its file (certificates/network-v1.md)."""

from verale.network.network import (
    LARGEST_NETWORK,
    NOT_CLAIMED,
    PICTURE,
    FrozenNetwork,
    picture_digest,
    pictures_file,
    pictures_of,
    require_binary32,
    walk,
)

__all__ = [
    "LARGEST_NETWORK",
    "NOT_CLAIMED",
    "PICTURE",
    "FrozenNetwork",
    "picture_digest",
    "pictures_file",
    "pictures_of",
    "require_binary32",
    "walk",
]
