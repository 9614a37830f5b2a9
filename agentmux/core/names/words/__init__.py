"""Formats counts, lists, suggestions and commands in messages to users."""
