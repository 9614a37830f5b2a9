"""Show agents and pipelines; keep trust in the project's files; test notifications."""
