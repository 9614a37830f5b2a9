"""The offline agent: a program that behaves like a coding-agent CLI and needs no account.

It is a program of its own. It imports nothing of AgentMux outside this folder, and AgentMux talks
to it only as to any other agent: argv, environment, keys, files and the commands that it runs.
"""
