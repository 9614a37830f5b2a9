"""The templates of what agents are told, as Markdown; no code. `core/prompts` fills them.

- One for each kind of work, named after its role: ``architect.md``, ``planner.md`` and so on.
  ``coder-single.md`` is for one coder with the whole plan, ``coder-fix.md`` for fixing after a
  review, and ``summary.md`` for the end.
- Common parts: a prompt begins with ``opening.md``, then ``fresh-again.md`` if earlier work was
  interrupted. The role's own template follows, then ``research.md`` (how to ask for research)
  for roles that may ask, and ``ending.md``.
- Messages to a running agent: ``told.md`` (research is done), ``nudge.md`` (a reminder) and
  ``go-on.md`` (a usage limit is over).
- ``continue.md`` is the prompt for a conversation that is resumed.
- ``context.md`` holds the rules of a session, which every agent reads first.

``{{name}}`` stands for a text that is filled in.
"""
