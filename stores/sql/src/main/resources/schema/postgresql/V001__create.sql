-- Onlyonce's entries. Every time is in microseconds since 1970-01-01 UTC, by this database's clock;
-- to read one: SELECT to_timestamp(created_at / 1e6) FROM onlyonce_entry.
-- Names are compared byte for byte (COLLATE "C").
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
    PRIMARY KEY (tenant, space, key_)
) WITH (fillfactor = 20); -- room on the page for the settled version of every row: see docs/reference/sql.md

-- Settling must not change an indexed column, or it stops being a heap-only (HOT) update.
CREATE INDEX onlyonce_entry_lease ON onlyonce_entry (lease_until);
CREATE INDEX onlyonce_entry_reap ON onlyonce_entry (reap_at);
CREATE INDEX onlyonce_entry_unknown ON onlyonce_entry (tenant, space, key_) WHERE unknown_since IS NOT NULL;

CREATE TABLE onlyonce_schema (
    version INTEGER NOT NULL PRIMARY KEY
);
INSERT INTO onlyonce_schema (version) VALUES (1);
