"""Protocols for what operations need of the outside world; `adapters` has classes for them.

A module here is named after the thing that operations use, an adapter after how it is done:

- `claims`: ``adapters/pane/claims``
- `display`: ``monitor/screen``, which is not an adapter but a part of the monitor
- `fleet`: ``adapters/system/processes/fleet_command``
- `processes`: ``adapters/disk/lock``, ``disk/handover``, ``wake/pipe`` and ``system/processes``
- `programs`: ``adapters/config/installed_programs``
- `repository`: ``adapters/git/repository``
- `session_files` and `session_folders`: the modules of these names in ``adapters/disk``
- `templates` and `trust`: ``adapters/config/project_files``
- `terminal`: ``adapters/tmux`` and ``adapters/pane/delivery``

Adapters do not know each other; `wiring` passes them to the operations as arguments.
"""
