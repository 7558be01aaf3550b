"""The papers' tables from a folder of trained networks: every paradigm, a budget an image, kept from run to run."""
