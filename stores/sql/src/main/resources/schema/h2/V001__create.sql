-- Onlyonce's entries. Every time is in microseconds since 1970-01-01 UTC, by the clock of the machine that the database runs on;
-- to read one: SELECT DATEADD(MICROSECOND, created_at, TIMESTAMP '1970-01-01 00:00:00') FROM onlyonce_entry.
-- Names are UTF-8 bytes: IGNORECASE and collations would make two keys one. To read one: UTF8TOSTRING(key_).
-- H2 commits each statement that changes a table, so this script can be run again from its beginning.
CREATE TABLE IF NOT EXISTS onlyonce_entry (
    tenant              BINARY VARYING(1020) NOT NULL,
    space               BINARY VARYING(1020) NOT NULL, -- empty, or the operation that the key is unique in
    key_                BINARY VARYING(1020) NOT NULL,
    operation           BINARY VARYING(1020) NOT NULL,
    fingerprint_version INTEGER              NOT NULL,
    fingerprint         BINARY VARYING(255)  NOT NULL,
    state               SMALLINT             NOT NULL, -- 1 pending 2 processing 3 completed 4 failed 5 retryable 6 unknown 7 expired
    token               BINARY VARYING(16),            -- of the last claim; null once that owner is fenced out
    owner               BINARY VARYING(1020) NOT NULL,
    attempt             INTEGER              NOT NULL,
    lease_us            BIGINT               NOT NULL,
    on_lease_lost       SMALLINT             NOT NULL, -- 1 unknown 2 resume 3 retry
    retention_us        BIGINT               NOT NULL,
    tombstone_us        BIGINT               NOT NULL,
    created_at          BIGINT               NOT NULL,
    lease_until         BIGINT               NOT NULL, -- where the sweeper looks; settling leaves it alone
    settled_at          BIGINT,
    expires_at          BIGINT,                        -- retention is over; null unless settled
    purge_at            BIGINT,                        -- the tombstone is over too; null unless settled
    reap_at             BIGINT               NOT NULL, -- where the reaper looks: never later than purge_at; settling leaves it alone
    unknown_since       BIGINT,                        -- null unless unknown
    result              BINARY VARYING,
    settled_why         BINARY VARYING(2000),          -- why its owner settled it; null: not settled, or there is an audit row of it
    target              BINARY VARYING(512),           -- method and path, for operators; never compared
    PRIMARY KEY (tenant, space, key_),
    CONSTRAINT onlyonce_entry_state CHECK (state BETWEEN 1 AND 7 AND on_lease_lost BETWEEN 1 AND 3)
);
CREATE INDEX IF NOT EXISTS onlyonce_entry_lease ON onlyonce_entry (lease_until);
CREATE INDEX IF NOT EXISTS onlyonce_entry_reap ON onlyonce_entry (reap_at);
CREATE INDEX IF NOT EXISTS onlyonce_entry_unknown ON onlyonce_entry (unknown_since);

-- Calls that are still to be made: one row for each accepted entry, until it is settled.
CREATE TABLE IF NOT EXISTS onlyonce_outbox (
    id               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant           BINARY VARYING(1020) NOT NULL,
    space            BINARY VARYING(1020) NOT NULL,
    key_             BINARY VARYING(1020) NOT NULL,
    operation        BINARY VARYING(1020) NOT NULL,
    entry_created_at BIGINT               NOT NULL, -- the entry's created_at: a key that was started again is another entry
    topic            BINARY VARYING(1020) NOT NULL,
    payload          BINARY VARYING       NOT NULL,
    tries            INTEGER              DEFAULT 0 NOT NULL,
    due_at           BIGINT               NOT NULL, -- when it is tried next, or its worker's lease ends
    token            BINARY VARYING(16),            -- of the worker that has it
    first_sent_at    BIGINT,                        -- a call may have reached the provider; null: proven that none has
    provider_id      BINARY VARYING,
    answer           BINARY VARYING,                -- the provider's answer: what is left to do is to record it
    refused          SMALLINT             DEFAULT 0 NOT NULL,
    dead             SMALLINT             DEFAULT 0 NOT NULL, -- 1: not called again until the reconciler or an operator decides
    last_error       BINARY VARYING,
    order_key        BINARY VARYING(1020),          -- rows with one are delivered one after the other, in the order of their ids
    lasting          SMALLINT,                      -- 1: it waits for as long as it takes; until it is made, its entry does not expire
    UNIQUE (tenant, space, key_, entry_created_at),
    CONSTRAINT onlyonce_outbox_state CHECK (refused IN (0, 1) AND dead IN (0, 1))
);
CREATE INDEX IF NOT EXISTS onlyonce_outbox_topic ON onlyonce_outbox (topic, due_at);
CREATE INDEX IF NOT EXISTS onlyonce_outbox_order ON onlyonce_outbox (tenant, topic, order_key, id);
CREATE INDEX IF NOT EXISTS onlyonce_outbox_dead ON onlyonce_outbox (dead, id);

-- How far a stepped operation has come: one row for each step that was started or finished.
CREATE TABLE IF NOT EXISTS onlyonce_step (
    tenant           BINARY VARYING(1020) NOT NULL,
    space            BINARY VARYING(1020) NOT NULL,
    key_             BINARY VARYING(1020) NOT NULL,
    entry_created_at BIGINT               NOT NULL, -- the entry's created_at: a key that was started again is another entry
    number           INTEGER              NOT NULL, -- its place in the flow, from 1
    name             BINARY VARYING(1020) NOT NULL,
    state            SMALLINT             NOT NULL, -- 1 started 2 finished
    result           BINARY VARYING,
    PRIMARY KEY (tenant, space, key_, entry_created_at, number),
    CONSTRAINT onlyonce_step_state CHECK (state BETWEEN 1 AND 2)
);

-- Who changed an entry's state, when, from what to what, and why: one row for each change, kept longer than the entry.
-- An ordinary settlement has no row while its entry stands: settled_why is the reason.
-- The first change of an entry has no row of its own: the row of the change after it says when and by whom the entry was made.
CREATE TABLE IF NOT EXISTS onlyonce_audit (
    id               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at               BIGINT               NOT NULL,
    tenant           BINARY VARYING(1020) NOT NULL,
    space            BINARY VARYING(1020) NOT NULL,
    key_             BINARY VARYING(1020) NOT NULL,
    operation        BINARY VARYING(1020) NOT NULL,
    entry_created_at BIGINT               NOT NULL, -- the entry's created_at: a key that was started again is another entry
    made_by          BINARY VARYING(1020),          -- who made the entry; null: who made this change
    attempt          INTEGER              NOT NULL,
    from_state       SMALLINT,                      -- as in onlyonce_entry; null: there was none
    to_state         SMALLINT,                      -- null: deleted
    who              BINARY VARYING(1020) NOT NULL, -- a node, sweeper, reaper, reconciler, an operator
    why              BINARY VARYING(2000) NOT NULL,
    CONSTRAINT onlyonce_audit_state CHECK (from_state BETWEEN 1 AND 7 AND to_state BETWEEN 1 AND 7)
);
CREATE INDEX IF NOT EXISTS onlyonce_audit_at ON onlyonce_audit (at);
CREATE INDEX IF NOT EXISTS onlyonce_audit_entry ON onlyonce_audit (tenant, space, key_);

-- How nodes recognise this database: a row that is no entry, with a random id in its column owner. It is among the entries so that
-- whoever removes all of them removes it too, and then nodes refuse the database until an operator accepts it. Leave it where it is: what
-- empties the table for tests says WHERE fingerprint_version > 0.
INSERT INTO onlyonce_entry (
    tenant, space, key_, operation, fingerprint_version, fingerprint, state, owner, attempt,
    lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
VALUES (X'', X'', STRINGTOUTF8('onlyonce store'), STRINGTOUTF8('store'), 0, X'', 6, STRINGTOUTF8(REPLACE(CAST(RANDOM_UUID() AS VARCHAR), '-', '')),
    0, 0, 1, 0, 0, 0, 9000000000000000, 9000000000000000);

CREATE TABLE IF NOT EXISTS onlyonce_schema (
    version INTEGER NOT NULL PRIMARY KEY
);
INSERT INTO onlyonce_schema (version) VALUES (1);
