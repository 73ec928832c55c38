"""Other queries for the same need: balanced recommendations, and variants for pooling."""
