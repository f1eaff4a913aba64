-- What the request was made for, for operators: never compared.
ALTER TABLE onlyonce_entry
    ADD COLUMN IF NOT EXISTS target BINARY VARYING(512); -- method and path; null: not said, or written by an older release

INSERT INTO onlyonce_schema (version) VALUES (7);
