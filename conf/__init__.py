"""The configs as a package, so that other Hydra applications can write ``pkg://rerankers.conf``."""
