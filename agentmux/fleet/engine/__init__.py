"""The fleet's database and DBOS: connection, tables, rows, which workflows there are."""
