"""The panes of a session: what agents show there, and what is typed into them."""
