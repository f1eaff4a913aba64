-- Calls that are still to be made: one row for each accepted entry, until it is settled.
CREATE TABLE onlyonce_outbox (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant           TEXT    NOT NULL,
    space            TEXT    NOT NULL,
    key_             TEXT    NOT NULL,
    operation        TEXT    NOT NULL,
    entry_created_at INTEGER NOT NULL, -- the entry's created_at: a key that was started anew is another entry
    topic            TEXT    NOT NULL,
    payload          BLOB    NOT NULL,
    tries            INTEGER NOT NULL DEFAULT 0,
    due_at           INTEGER NOT NULL, -- when it is tried next, or its worker's lease ends
    token            BLOB,             -- of the worker that has it
    first_sent_at    INTEGER,          -- a call may have reached the provider; null: proven that none has
    provider_id      TEXT,
    answer           BLOB,             -- the provider's answer: what is left to do is to record it
    refused          INTEGER NOT NULL DEFAULT 0,
    dead             INTEGER NOT NULL DEFAULT 0, -- 1: not called again until the reconciler or an operator decides
    last_error       TEXT,
    UNIQUE (tenant, space, key_, entry_created_at),
    CONSTRAINT onlyonce_outbox_state CHECK (refused IN (0, 1) AND dead IN (0, 1))
);
CREATE INDEX onlyonce_outbox_due ON onlyonce_outbox (due_at);
CREATE INDEX onlyonce_outbox_dead ON onlyonce_outbox (id) WHERE dead = 1;

INSERT INTO onlyonce_schema (version) VALUES (2);
