"""Reports for people: one static page, a table, a picture. The `report` extra."""
