-- Onlyonce's entries. Every time is in microseconds since 1970-01-01 UTC, by this database's clock;
-- to read one: SELECT FROM_UNIXTIME(created_at / 1000000) FROM onlyonce_entry.
-- Names are UTF-8 bytes: collations that ignore case or trailing spaces would make two keys one.
CREATE TABLE IF NOT EXISTS onlyonce_entry (
    tenant              VARBINARY(1020) NOT NULL,
    space               VARBINARY(1020) NOT NULL, -- empty, or the operation that the key is unique in
    key_                VARBINARY(1020) NOT NULL,
    operation           VARBINARY(1020) NOT NULL,
    fingerprint_version INT             NOT NULL,
    fingerprint         VARBINARY(255)  NOT NULL,
    state               SMALLINT        NOT NULL, -- 1 pending 2 processing 3 completed 4 failed 5 retryable 6 unknown 7 expired
    token               BINARY(16),               -- of the last claim; null once that owner is fenced out
    owner               VARBINARY(1020) NOT NULL,
    attempt             INT             NOT NULL,
    lease_us            BIGINT          NOT NULL,
    on_lease_lost       SMALLINT        NOT NULL, -- 1 unknown 2 resume 3 retry
    retention_us        BIGINT          NOT NULL,
    tombstone_us        BIGINT          NOT NULL,
    created_at          BIGINT          NOT NULL,
    lease_until         BIGINT          NOT NULL, -- where the sweeper looks; settling leaves it alone
    settled_at          BIGINT,
    expires_at          BIGINT,                   -- retention is over; null unless settled
    purge_at            BIGINT,                   -- the tombstone is over too; null unless settled
    reap_at             BIGINT          NOT NULL, -- where the reaper looks: never later than purge_at; settling leaves it alone
    unknown_since       BIGINT,                   -- null unless unknown
    result              LONGBLOB,
    PRIMARY KEY (tenant, space, key_),
    INDEX onlyonce_entry_lease (lease_until),
    INDEX onlyonce_entry_reap (reap_at),
    INDEX onlyonce_entry_unknown (unknown_since),
    CONSTRAINT onlyonce_entry_state CHECK (state BETWEEN 1 AND 7 AND on_lease_lost BETWEEN 1 AND 3)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS onlyonce_schema (
    version INTEGER NOT NULL PRIMARY KEY
);
INSERT INTO onlyonce_schema (version) VALUES (1);
