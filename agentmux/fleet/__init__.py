"""The fleet: many features on many hosts, on DBOS. Nothing but its commands imports it.

No other package imports DBOS, SQLAlchemy or a database driver.
"""
