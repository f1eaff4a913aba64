-- An ordinary settlement has no audit row: the entry is its own record, and this column is the reason. See docs/reference/sql.md.
-- Adding the column takes an instant, however large the table is. MySQL cannot add a column only if it is missing, and commits
-- each statement: so look first, for the case that an earlier run ended here.
SET @onlyonce_v006 = IF((
    SELECT count(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'onlyonce_entry' AND column_name = 'settled_why') = 0,
    'ALTER TABLE onlyonce_entry ADD COLUMN settled_why VARBINARY(2000)',
    'DO 0');
PREPARE onlyonce_v006 FROM @onlyonce_v006;
EXECUTE onlyonce_v006;
DEALLOCATE PREPARE onlyonce_v006;

INSERT INTO onlyonce_schema (version) VALUES (6);
