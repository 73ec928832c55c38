"""Exact exposure of Plackett-Luce policies and its gradients: one file an integral, `route` chooses among them."""
