"""This installation and its Python."""
