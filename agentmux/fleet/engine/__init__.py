"""The fleet's database and DBOS: connection, tables, rows, and the workflows in its queues."""
