"""Protocols for what operations need from the outside world; `adapters` implements them.

A module here is named after what operations use; an adapter is named after how it works:

- `claims`: ``adapters/pane/claims``
- `display`: ``monitor/screen``, which belongs to the monitor and is no adapter
- `fleet`: ``adapters/system/processes/fleet_command``
- `processes`: ``adapters/disk/lock``, ``disk/handover``, ``wake/pipe`` and ``system/processes``
- `programs`: ``adapters/config/installed_programs``
- `repository`: ``adapters/git/repository``
- `session_files` and `session_folders`: the modules of these names in ``adapters/disk``
- `templates` and `trust`: ``adapters/config/project_files``
- `terminal`: ``adapters/tmux`` and ``adapters/pane/delivery``

Adapters do not import each other; `wiring` passes them to the operations as arguments.
"""
