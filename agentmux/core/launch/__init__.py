"""One start of an agent, decided from facts: `app/launch` gathers them and writes the result.

When a seat is launched is decided in `decisions`; whether its conversation comes back, in
`conversation`.
"""
