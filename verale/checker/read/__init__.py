"""The readers: from the bytes of heads, latents, networks and pictures to plain data. They prove nothing."""
