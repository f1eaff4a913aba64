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
    PRIMARY KEY (tenant, space, key_),
    CONSTRAINT onlyonce_entry_state CHECK (state BETWEEN 1 AND 7 AND on_lease_lost BETWEEN 1 AND 3),
    CONSTRAINT onlyonce_entry_length CHECK (length(CAST(tenant AS BLOB)) <= 1020 AND length(CAST(space AS BLOB)) <= 1020
        AND length(CAST(key_ AS BLOB)) <= 1020 AND length(CAST(operation AS BLOB)) <= 1020)
);

CREATE INDEX onlyonce_entry_lease ON onlyonce_entry (lease_until);
CREATE INDEX onlyonce_entry_reap ON onlyonce_entry (reap_at);
CREATE INDEX onlyonce_entry_unknown ON onlyonce_entry (tenant, space, key_) WHERE unknown_since IS NOT NULL;

CREATE TABLE onlyonce_schema (
    version INTEGER NOT NULL PRIMARY KEY
);
INSERT INTO onlyonce_schema (version) VALUES (1);
