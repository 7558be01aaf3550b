"""Five architectures of "Beyond L2" trained on CIFAR-10 with CaBRNet, explained from their run directories, audited."""
