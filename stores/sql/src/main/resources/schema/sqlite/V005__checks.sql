-- States and lengths are checked by the database itself. SQLite can add no constraint to a table that exists, and copying
-- the tables would stop every writer meanwhile: so the scripts above have them, and only databases made from this version on.
INSERT INTO onlyonce_schema (version) VALUES (5);
