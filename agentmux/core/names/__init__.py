"""Names of phases, roles, files, statuses, turn states; typos in them. Phase rules: `pipeline`."""
