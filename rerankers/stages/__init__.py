"""One Hydra-free function per command."""
