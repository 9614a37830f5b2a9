"""Keys, and what faces do with them."""
