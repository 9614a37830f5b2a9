"""Prepare one launch: which agent, prompt, command line, record. `core/decisions` decides when."""
