"""Protocols for sessions on disk, exported sessions, pipelines, templates and the user's trust."""
