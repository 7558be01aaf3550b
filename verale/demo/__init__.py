"""The packaged demonstration: handwritten digits and a ProtoPNet that CaBRNet trained on them."""
