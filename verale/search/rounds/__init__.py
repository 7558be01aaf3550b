"""The search under `projection` in rounds: a batch of images goes through the same operations on tensors together."""
