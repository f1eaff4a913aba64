-- Who changed an entry's state, when, from what to what, and why: one row for each change, kept longer than the entry.
-- The first change of an entry has no row of its own: the row of the change after it says when and by whom the entry was made.
CREATE TABLE onlyonce_audit (
    id               INTEGER PRIMARY KEY,
    at               INTEGER NOT NULL,
    tenant           TEXT    NOT NULL,
    space            TEXT    NOT NULL,
    key_             TEXT    NOT NULL,
    operation        TEXT    NOT NULL,
    entry_created_at INTEGER NOT NULL, -- the entry's created_at: a key that was started anew is another entry
    made_by          TEXT,             -- who made the entry; null: who made this change
    attempt          INTEGER NOT NULL,
    from_state       INTEGER,          -- as in onlyonce_entry; null: there was none
    to_state         INTEGER,          -- null: deleted
    who              TEXT    NOT NULL, -- a node, sweeper, reaper, reconciler, an operator
    why              TEXT    NOT NULL,
    CONSTRAINT onlyonce_audit_state CHECK (from_state BETWEEN 1 AND 7 AND to_state BETWEEN 1 AND 7)
);
CREATE INDEX onlyonce_audit_at ON onlyonce_audit (at);
CREATE INDEX onlyonce_audit_entry ON onlyonce_audit (tenant, space, key_);

INSERT INTO onlyonce_schema (version) VALUES (4);
