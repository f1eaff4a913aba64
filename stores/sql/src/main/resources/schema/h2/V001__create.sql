-- Onlyonce's entries. Every time is in microseconds since 1970-01-01 UTC, by the clock of the machine that the database runs on;
-- to read one: SELECT DATEADD(MICROSECOND, created_at, TIMESTAMP '1970-01-01 00:00:00') FROM onlyonce_entry.
-- Names are UTF-8 bytes: IGNORECASE and collations would make two keys one. To read one: UTF8TOSTRING(key_).
-- H2 commits each statement that changes a table, so every script can be run again from its beginning.
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
    PRIMARY KEY (tenant, space, key_),
    CONSTRAINT onlyonce_entry_state CHECK (state BETWEEN 1 AND 7 AND on_lease_lost BETWEEN 1 AND 3)
);
CREATE INDEX IF NOT EXISTS onlyonce_entry_lease ON onlyonce_entry (lease_until);
CREATE INDEX IF NOT EXISTS onlyonce_entry_reap ON onlyonce_entry (reap_at);
CREATE INDEX IF NOT EXISTS onlyonce_entry_unknown ON onlyonce_entry (unknown_since);

CREATE TABLE IF NOT EXISTS onlyonce_schema (
    version INTEGER NOT NULL PRIMARY KEY
);
INSERT INTO onlyonce_schema (version) VALUES (1);
