"""Names of phases, roles, files, statuses, turns; typos in names. Rules of phases: `pipeline`."""
