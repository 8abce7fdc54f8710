"""The PyTorch-vocabulary face: tensors that record what is done to them, and the reverse sweep over that."""
