"""The offline agent: a program that behaves like a coding agent and needs no account.

It is a separate program. It imports nothing of AgentMux outside this folder, and AgentMux treats it
like any other agent: it starts it with a command line and an environment, types keys, and reads the
files that it writes.
"""
