"""The panes of a session: what agents show, and what is typed for them."""
