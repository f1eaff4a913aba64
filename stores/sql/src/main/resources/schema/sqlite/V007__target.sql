-- What the request was made for, for operators: never compared. Adding the column takes an instant, however large the table is.
ALTER TABLE onlyonce_entry ADD COLUMN target TEXT; -- method and path, at most 512 bytes; null: not said, or written by an older release

INSERT INTO onlyonce_schema (version) VALUES (7);
