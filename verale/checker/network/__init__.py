"""The network of a certificate that speaks of a picture (certificates/network-v1.md): an enclosure of the latents that
it gives."""
