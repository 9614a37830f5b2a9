"""The web page: sessions for a browser or a phone. It serves pages; rules are those of `app`.

Only this package imports Starlette, uvicorn, Jinja2 and the Markdown renderer, and only the command
``agentmux web`` imports this package.
"""
