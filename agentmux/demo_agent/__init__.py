"""The offline agent: a program that behaves like a coding agent and needs no account.

It is a separate program. It imports nothing of AgentMux outside this folder, and AgentMux treats it
like any other agent: by argv, environment, keys, files and the commands that it runs.
"""
