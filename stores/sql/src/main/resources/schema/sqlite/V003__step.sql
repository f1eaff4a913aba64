-- How far a stepped operation has come: one row for each step that was started or finished.
CREATE TABLE onlyonce_step (
    tenant           TEXT    NOT NULL,
    space            TEXT    NOT NULL,
    key_             TEXT    NOT NULL,
    entry_created_at INTEGER NOT NULL, -- the entry's created_at: a key that was started anew is another entry
    number           INTEGER NOT NULL, -- its place in the flow, from 1
    name             TEXT    NOT NULL,
    state            INTEGER NOT NULL, -- 1 started 2 finished 3 started, and its entry was settled as unknown for it
    result           BLOB,
    PRIMARY KEY (tenant, space, key_, entry_created_at, number),
    CONSTRAINT onlyonce_step_state CHECK (state BETWEEN 1 AND 3)
) WITHOUT ROWID;

INSERT INTO onlyonce_schema (version) VALUES (3);
