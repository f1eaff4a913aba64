-- An ordinary settlement has no audit row: the entry is its own record, and this column is the reason. See docs/reference/sql.md.
-- Adding the column takes an instant, however large the table is.
ALTER TABLE onlyonce_entry ADD COLUMN settled_why TEXT; -- why its owner settled it; null: not settled, or there is an audit row of it

INSERT INTO onlyonce_schema (version) VALUES (6);
