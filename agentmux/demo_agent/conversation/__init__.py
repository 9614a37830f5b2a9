"""The offline agent's terminal and its conversations."""
