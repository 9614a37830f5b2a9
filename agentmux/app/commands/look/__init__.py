"""Looks at agents, pipelines, trust and notifications."""
