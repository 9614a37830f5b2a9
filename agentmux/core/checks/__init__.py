"""Results of a check's commands: outcomes, verdict and report. Phase logic: `pipeline.checks`."""
