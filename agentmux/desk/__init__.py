"""The terminal desk: all sessions of all projects on one screen. It alone imports Textual.

What it shows comes from `app/views`; what its keys do are the commands themselves.
"""
