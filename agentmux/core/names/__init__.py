"""Names of phases, roles, files, statuses, turns; hints for typos. Phase rules: `pipeline`."""
