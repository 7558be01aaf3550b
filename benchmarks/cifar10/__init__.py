"""Five architectures of "Beyond L2" trained on CIFAR-10 with CaBRNet."""
