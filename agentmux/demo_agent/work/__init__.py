"""The offline agent's work on a prompt: reads instructions, writes files and gives signals."""
