-- Calls that are still to be made: one row for each accepted entry, until it is settled.
CREATE TABLE IF NOT EXISTS onlyonce_outbox (
    id               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant           BINARY VARYING(1020) NOT NULL,
    space            BINARY VARYING(1020) NOT NULL,
    key_             BINARY VARYING(1020) NOT NULL,
    operation        BINARY VARYING(1020) NOT NULL,
    entry_created_at BIGINT               NOT NULL, -- the entry's created_at: a key that was started anew is another entry
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
    UNIQUE (tenant, space, key_, entry_created_at),
    CONSTRAINT onlyonce_outbox_state CHECK (refused IN (0, 1) AND dead IN (0, 1))
);
CREATE INDEX IF NOT EXISTS onlyonce_outbox_due ON onlyonce_outbox (due_at);
CREATE INDEX IF NOT EXISTS onlyonce_outbox_dead ON onlyonce_outbox (dead, id);

INSERT INTO onlyonce_schema (version) VALUES (2);
