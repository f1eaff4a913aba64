-- States are checked by the database itself; lengths are, by the types of the columns. MySQL adds a constraint by copying
-- the table, and nobody can write meanwhile: so the scripts above have them, and only databases made from this version on.
-- To add them to older tables in a quiet hour, see docs/reference/sql.md.
INSERT INTO onlyonce_schema (version) VALUES (5);
