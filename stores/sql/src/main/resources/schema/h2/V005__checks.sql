-- States are checked by the database itself; lengths are, by the types of the columns. H2 came later than this version: the
-- scripts above have the constraints.
INSERT INTO onlyonce_schema (version) VALUES (5);
