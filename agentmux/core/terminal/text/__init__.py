"""Text and screens for a terminal."""
