"""Rules: certificates that speak of many images, which images they cover, and lists of them that cover a data set."""
