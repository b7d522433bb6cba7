"""Pure functions of arrays: no estimator, no randomness, no file, nothing of ours but array names.

Inside the kernels a block of rows is laid out *feature-major*: ``inputs`` has shape
``(n_features + 1, n_rows)``, its last row constant one, so that a neuron's weights and bias are one
row ``theta_j`` and all preactivations of the block are ``theta @ inputs``.
"""
