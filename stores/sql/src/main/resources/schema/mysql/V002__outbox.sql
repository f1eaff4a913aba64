-- Calls that are still to be made: one row for each accepted entry, until it is settled.
CREATE TABLE IF NOT EXISTS onlyonce_outbox (
    id               BIGINT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
    tenant           VARBINARY(1020) NOT NULL,
    space            VARBINARY(1020) NOT NULL,
    key_             VARBINARY(1020) NOT NULL,
    operation        VARBINARY(1020) NOT NULL,
    entry_created_at BIGINT          NOT NULL, -- the entry's created_at: a key that was started anew is another entry
    topic            VARBINARY(1020) NOT NULL,
    payload          LONGBLOB        NOT NULL,
    tries            INT             NOT NULL DEFAULT 0,
    due_at           BIGINT          NOT NULL, -- when it is tried next, or its worker's lease ends
    token            BINARY(16),               -- of the worker that has it
    first_sent_at    BIGINT,                   -- a call may have reached the provider; null: proven that none has
    provider_id      BLOB,
    answer           LONGBLOB,                 -- the provider's answer: what is left to do is to record it
    refused          SMALLINT        NOT NULL DEFAULT 0,
    dead             SMALLINT        NOT NULL DEFAULT 0, -- 1: not called again until the reconciler or an operator decides
    last_error       BLOB,
    UNIQUE INDEX onlyonce_outbox_entry (tenant, space, key_, entry_created_at),
    INDEX onlyonce_outbox_due (due_at),
    INDEX onlyonce_outbox_dead (dead, id),
    CONSTRAINT onlyonce_outbox_state CHECK (refused IN (0, 1) AND dead IN (0, 1))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

INSERT INTO onlyonce_schema (version) VALUES (2);
