"""Prepares text and screens for a terminal: width, colours, safety, search, command words."""
