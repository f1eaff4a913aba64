-- Onlyonce's entries. Every time is in microseconds since 1970-01-01 UTC, by this database's clock;
-- to read one: SELECT to_timestamp(created_at / 1e6) FROM onlyonce_entry.
-- Names are compared byte for byte (COLLATE "C"). No CHECK constraints: PostgreSQL parses them again at each execution of a
-- statement, a fifth of what a claim costs. Onlyonce checks the same before it writes and when it reads.
CREATE TABLE onlyonce_entry (
    tenant              text COLLATE "C" NOT NULL,
    space               text COLLATE "C" NOT NULL, -- empty, or the operation that the key is unique in
    key_                text COLLATE "C" NOT NULL,
    operation           text COLLATE "C" NOT NULL,
    fingerprint_version integer          NOT NULL,
    fingerprint         bytea            NOT NULL,
    state               smallint         NOT NULL, -- 1 pending 2 processing 3 completed 4 failed 5 retryable 6 unknown 7 expired
    token               uuid,                      -- of the last claim; null once that owner is fenced out
    owner               text             NOT NULL,
    attempt             integer          NOT NULL,
    lease_us            bigint           NOT NULL,
    on_lease_lost       smallint         NOT NULL, -- 1 unknown 2 resume 3 retry
    retention_us        bigint           NOT NULL,
    tombstone_us        bigint           NOT NULL,
    created_at          bigint           NOT NULL,
    lease_until         bigint           NOT NULL, -- where the sweeper looks; settling leaves it alone
    settled_at          bigint,
    expires_at          bigint,                    -- retention is over; null unless settled
    purge_at            bigint,                    -- the tombstone is over too; null unless settled
    reap_at             bigint           NOT NULL, -- where the reaper looks: never later than purge_at; settling leaves it alone
    unknown_since       bigint,                    -- null unless unknown
    result              bytea,
    settled_why         text,                      -- why its owner settled it; null: not settled, or there is an audit row of it
    target              text,                      -- method and path, for operators, at most 512 bytes; never compared
    PRIMARY KEY (tenant, space, key_)
) WITH (fillfactor = 20); -- room on the page for the settled version of every row: see docs/reference/sql.md

-- Settling must not change an indexed column, or it stops being a heap-only (HOT) update.
CREATE INDEX onlyonce_entry_lease ON onlyonce_entry (lease_until);
CREATE INDEX onlyonce_entry_reap ON onlyonce_entry (reap_at);
CREATE INDEX onlyonce_entry_unknown ON onlyonce_entry (tenant, space, key_) WHERE unknown_since IS NOT NULL;

-- Calls that are still to be made: one row for each accepted entry, until it is settled.
CREATE TABLE onlyonce_outbox (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant           text COLLATE "C" NOT NULL,
    space            text COLLATE "C" NOT NULL,
    key_             text COLLATE "C" NOT NULL,
    operation        text COLLATE "C" NOT NULL,
    entry_created_at bigint           NOT NULL, -- the entry's created_at: a key that was started again is another entry
    topic            text COLLATE "C" NOT NULL,
    payload          bytea            NOT NULL,
    tries            integer          NOT NULL DEFAULT 0,
    due_at           bigint           NOT NULL, -- when it is tried next, or its worker's lease ends
    token            uuid,                      -- of the worker that has it
    first_sent_at    bigint,                    -- a call may have reached the provider; null: proven that none has
    provider_id      text,
    answer           bytea,                     -- the provider's answer: what is left to do is to record it
    refused          smallint         NOT NULL DEFAULT 0,
    dead             smallint         NOT NULL DEFAULT 0, -- 1: not called again until the reconciler or an operator decides
    last_error       text,
    order_key        text COLLATE "C",          -- rows with one are delivered one after the other, in the order of their ids
    lasting          smallint,                  -- 1: it waits for as long as it takes; until it is made, its entry does not expire
    UNIQUE (tenant, space, key_, entry_created_at),
    CONSTRAINT onlyonce_outbox_state CHECK (refused IN (0, 1) AND dead IN (0, 1))
);
CREATE INDEX onlyonce_outbox_topic ON onlyonce_outbox (topic, due_at);
CREATE INDEX onlyonce_outbox_order ON onlyonce_outbox (tenant, topic, order_key, id) WHERE order_key IS NOT NULL;
CREATE INDEX onlyonce_outbox_dead ON onlyonce_outbox (id) WHERE dead = 1;

-- How far a stepped operation has come: one row for each step that was started or finished.
CREATE TABLE onlyonce_step (
    tenant           text COLLATE "C" NOT NULL,
    space            text COLLATE "C" NOT NULL,
    key_             text COLLATE "C" NOT NULL,
    entry_created_at bigint           NOT NULL, -- the entry's created_at: a key that was started again is another entry
    number           integer          NOT NULL, -- its place in the flow, from 1
    name             text COLLATE "C" NOT NULL,
    state            smallint         NOT NULL, -- 1 started 2 finished
    result           bytea,
    PRIMARY KEY (tenant, space, key_, entry_created_at, number),
    CONSTRAINT onlyonce_step_state CHECK (state BETWEEN 1 AND 2)
);

-- Who changed an entry's state, when, from what to what, and why: one row for each change, kept longer than the entry.
-- An ordinary settlement has no row while its entry stands: settled_why is the reason.
-- The first change of an entry has no row of its own: the row of the change after it says when and by whom the entry was made.
CREATE TABLE onlyonce_audit (
    at               bigint           NOT NULL,
    id               bigint           GENERATED ALWAYS AS IDENTITY, -- the order of changes that happened at the same time
    tenant           text COLLATE "C" NOT NULL,
    space            text COLLATE "C" NOT NULL,
    key_             text COLLATE "C" NOT NULL,
    operation        text COLLATE "C" NOT NULL,
    entry_created_at bigint           NOT NULL, -- the entry's created_at: a key that was started again is another entry
    made_by          text,                      -- who made the entry; null: who made this change
    attempt          integer          NOT NULL,
    from_state       smallint,                  -- as in onlyonce_entry; null: there was none
    to_state         smallint,                  -- null: deleted
    who              text             NOT NULL, -- a node, sweeper, reaper, reconciler, an operator
    why              text             NOT NULL,
    PRIMARY KEY (at, id),
    CONSTRAINT onlyonce_audit_state CHECK (from_state BETWEEN 1 AND 7 AND to_state BETWEEN 1 AND 7)
);
CREATE INDEX onlyonce_audit_entry ON onlyonce_audit (tenant, space, key_);

-- How nodes recognise this database: a row that is no entry, with a random id in its column owner. It is among the entries so that
-- whoever removes all of them removes it too, and then nodes refuse the database until an operator accepts it. Leave it where it is: what
-- empties the table for tests says WHERE fingerprint_version > 0.
INSERT INTO onlyonce_entry (
    tenant, space, key_, operation, fingerprint_version, fingerprint, state, owner, attempt,
    lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
VALUES ('', '', 'onlyonce store', 'store', 0, '', 6, replace(gen_random_uuid()::text, '-', ''),
    0, 0, 1, 0, 0, 0, 9000000000000000, 9000000000000000);

CREATE TABLE onlyonce_schema (
    version INTEGER NOT NULL PRIMARY KEY
);
INSERT INTO onlyonce_schema (version) VALUES (1);
