-- What the request was made for (method and path), for operators: never compared. Null: not said, or written by an older release.
-- Adding the column takes an instant, however large the table is. As in V006: look first, for the case that an earlier run ended here.
SET @onlyonce_v007 = IF((
    SELECT count(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'onlyonce_entry' AND column_name = 'target') = 0,
    'ALTER TABLE onlyonce_entry ADD COLUMN target VARBINARY(512)',
    'DO 0');
PREPARE onlyonce_v007 FROM @onlyonce_v007;
EXECUTE onlyonce_v007;
DEALLOCATE PREPARE onlyonce_v007;

INSERT INTO onlyonce_schema (version) VALUES (7);
