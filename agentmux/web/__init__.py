"""The web page: serves sessions to browsers and phones; all rules about sessions are in `app`.

Only this package imports Starlette, uvicorn, Jinja2 and the Markdown renderer, and only the command
``agentmux web`` imports this package.
"""
