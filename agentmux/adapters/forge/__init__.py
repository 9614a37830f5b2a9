"""Asks forges (GitHub, …) through their own programs. Which ones exist: `adapters/config`."""
