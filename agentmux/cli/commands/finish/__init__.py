"""Commands that decide on results, and move or remove sessions."""
