"""What commands show of sessions, as data; reads only. How it is drawn is in the faces."""
