"""The terminal desk: all sessions of all projects on one screen. It alone imports Textual.

It shows data from `app/views`, and its keys run the commands of AgentMux.
"""
