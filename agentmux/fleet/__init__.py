"""The fleet: runs many features on many hosts, with DBOS. Only its commands import it.

No other package imports DBOS, SQLAlchemy or a database driver.
"""
