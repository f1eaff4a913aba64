-- Onlyonce's entries. Every time is in microseconds since 1970-01-01 UTC, by the clock of the machine that wrote it;
-- to read one: SELECT datetime(created_at / 1000000, 'unixepoch') FROM onlyonce_entry.
CREATE TABLE onlyonce_entry (
    tenant              TEXT    NOT NULL,
    space               TEXT    NOT NULL, -- empty, or the operation that the key is unique in
    key_                TEXT    NOT NULL,
    operation           TEXT    NOT NULL,
    fingerprint_version INTEGER NOT NULL,
    fingerprint         BLOB    NOT NULL,
    state               INTEGER NOT NULL, -- 1 pending 2 processing 3 completed 4 failed 5 retryable 6 unknown 7 expired
    token               BLOB,             -- of the last claim; null once that owner is fenced out
    owner               TEXT    NOT NULL,
    attempt             INTEGER NOT NULL,
    lease_us            INTEGER NOT NULL,
    on_lease_lost       INTEGER NOT NULL, -- 1 unknown 2 resume 3 retry
    retention_us        INTEGER NOT NULL,
    tombstone_us        INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    lease_until         INTEGER NOT NULL, -- where the sweeper looks; settling leaves it alone
    settled_at          INTEGER,
    expires_at          INTEGER,          -- retention is over; null unless settled
    purge_at            INTEGER,          -- the tombstone is over too; null unless settled
    reap_at             INTEGER NOT NULL, -- where the reaper looks: never later than purge_at; settling leaves it alone
    unknown_since       INTEGER,          -- null unless unknown
    result              BLOB,
    settled_why         TEXT,             -- why its owner settled it; null: not settled, or there is an audit row of it
    target              TEXT,             -- method and path, for operators, at most 512 bytes; never compared
    PRIMARY KEY (tenant, space, key_),
    CONSTRAINT onlyonce_entry_state CHECK (state BETWEEN 1 AND 7 AND on_lease_lost BETWEEN 1 AND 3),
    CONSTRAINT onlyonce_entry_length CHECK (length(CAST(tenant AS BLOB)) <= 1020 AND length(CAST(space AS BLOB)) <= 1020
        AND length(CAST(key_ AS BLOB)) <= 1020 AND length(CAST(operation AS BLOB)) <= 1020)
);

CREATE INDEX onlyonce_entry_lease ON onlyonce_entry (lease_until);
CREATE INDEX onlyonce_entry_reap ON onlyonce_entry (reap_at);
CREATE INDEX onlyonce_entry_unknown ON onlyonce_entry (tenant, space, key_) WHERE unknown_since IS NOT NULL;

-- Calls that are still to be made: one row for each accepted entry, until it is settled.
CREATE TABLE onlyonce_outbox (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant           TEXT    NOT NULL,
    space            TEXT    NOT NULL,
    key_             TEXT    NOT NULL,
    operation        TEXT    NOT NULL,
    entry_created_at INTEGER NOT NULL, -- the entry's created_at: a key that was started again is another entry
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
    order_key        TEXT,             -- rows with one are delivered one after the other, in the order of their ids
    lasting          INTEGER,          -- 1: it waits for as long as it takes; until it is made, its entry does not expire
    UNIQUE (tenant, space, key_, entry_created_at),
    CONSTRAINT onlyonce_outbox_state CHECK (refused IN (0, 1) AND dead IN (0, 1))
);
CREATE INDEX onlyonce_outbox_topic ON onlyonce_outbox (topic, due_at);
CREATE INDEX onlyonce_outbox_order ON onlyonce_outbox (tenant, topic, order_key, id) WHERE order_key IS NOT NULL;
CREATE INDEX onlyonce_outbox_dead ON onlyonce_outbox (id) WHERE dead = 1;

-- How far a stepped operation has come: one row for each step that was started or finished.
CREATE TABLE onlyonce_step (
    tenant           TEXT    NOT NULL,
    space            TEXT    NOT NULL,
    key_             TEXT    NOT NULL,
    entry_created_at INTEGER NOT NULL, -- the entry's created_at: a key that was started again is another entry
    number           INTEGER NOT NULL, -- its place in the flow, from 1
    name             TEXT    NOT NULL,
    state            INTEGER NOT NULL, -- 1 started 2 finished
    result           BLOB,
    PRIMARY KEY (tenant, space, key_, entry_created_at, number),
    CONSTRAINT onlyonce_step_state CHECK (state BETWEEN 1 AND 2)
) WITHOUT ROWID;

-- Who changed an entry's state, when, from what to what, and why: one row for each change, kept longer than the entry.
-- An ordinary settlement has no row while its entry stands: settled_why is the reason.
-- The first change of an entry has no row of its own: the row of the change after it says when and by whom the entry was made.
CREATE TABLE onlyonce_audit (
    id               INTEGER PRIMARY KEY,
    at               INTEGER NOT NULL,
    tenant           TEXT    NOT NULL,
    space            TEXT    NOT NULL,
    key_             TEXT    NOT NULL,
    operation        TEXT    NOT NULL,
    entry_created_at INTEGER NOT NULL, -- the entry's created_at: a key that was started again is another entry
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

-- How nodes recognise this database: a row that is no entry, with a random id in its column owner. It is among the entries so that
-- whoever removes all of them removes it too, and then nodes refuse the database until an operator accepts it. Leave it where it is: what
-- empties the table for tests says WHERE fingerprint_version > 0.
INSERT INTO onlyonce_entry (
    tenant, space, key_, operation, fingerprint_version, fingerprint, state, owner, attempt,
    lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
VALUES ('', '', 'onlyonce store', 'store', 0, x'', 6, lower(hex(randomblob(16))),
    0, 0, 1, 0, 0, 0, 9000000000000000, 9000000000000000);

CREATE TABLE onlyonce_schema (
    version INTEGER NOT NULL PRIMARY KEY
);
INSERT INTO onlyonce_schema (version) VALUES (1);
