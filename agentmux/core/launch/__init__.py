"""Decides from facts how an agent is started: `app/launch` gathers them and writes the result.

`decisions` decides when a seat is launched; `conversation` decides whether its conversation comes
back.
"""
