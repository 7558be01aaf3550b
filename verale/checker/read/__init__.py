"""The readers: heads, latents, networks and pictures, from the bytes of their files to plain data.

They check what certificates/v1.md and network-v1.md say of files, and prove nothing. So who explains reads with them
too: what an audit refuses is refused before it is explained. Of this package nothing else is known there.
"""

from __future__ import annotations

from ..errors import FormatError, HeadError, LatentsError, NetworkError, PictureError
from .formats import Entry, Tensor, header_length, read_header
from .head_file import LARGEST as LARGEST_HEAD
from .head_file import METADATA_KEY as HEAD_KEY
from .head_file import HeadPart, read_head_file
from .latents import LARGEST as LARGEST_LATENTS
from .latents import LatentsFile, latents_among, read_latents_file
from .network_file import LARGEST as LARGEST_NETWORK
from .network_file import METADATA_KEY as NETWORK_KEY
from .network_file import (
    MOST_ENTRIES,
    MOST_LAYERS,
    MOST_PRODUCTS,
    PICTURE,
    Layer,
    Network,
    is_name,
    read_network,
)
from .pictures import LARGEST as LARGEST_PICTURES
from .pictures import LARGEST_PNG, Picture, PictureFile, StoredPictures, UnreadFile, opened_files

__all__ = [
    "HEAD_KEY",
    "LARGEST_HEAD",
    "LARGEST_LATENTS",
    "LARGEST_NETWORK",
    "LARGEST_PICTURES",
    "LARGEST_PNG",
    "MOST_ENTRIES",
    "MOST_LAYERS",
    "MOST_PRODUCTS",
    "NETWORK_KEY",
    "PICTURE",
    "Entry",
    "FormatError",
    "HeadError",
    "LatentsError",
    "LatentsFile",
    "Layer",
    "Network",
    "NetworkError",
    "HeadPart",
    "Picture",
    "PictureError",
    "PictureFile",
    "StoredPictures",
    "Tensor",
    "UnreadFile",
    "header_length",
    "is_name",
    "latents_among",
    "opened_files",
    "read_head_file",
    "read_header",
    "read_latents_file",
    "read_network",
]
