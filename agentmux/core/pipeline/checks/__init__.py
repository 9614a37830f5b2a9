"""When a phase is complete, and the commands of a check, a setup and the base as configured."""
