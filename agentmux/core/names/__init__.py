"""Names: phases, roles, files of a session, labels of statuses. Rules about them lie elsewhere."""
