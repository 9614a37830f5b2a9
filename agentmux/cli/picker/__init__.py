"""The full-screen list in which a person picks a session, without its key bindings.

What each key does is in `core/terminal/keys/picker`.
"""
