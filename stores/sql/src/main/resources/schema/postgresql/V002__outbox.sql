-- Calls that are still to be made: one row for each accepted entry, until it is settled.
CREATE TABLE onlyonce_outbox (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant           text COLLATE "C" NOT NULL,
    space            text COLLATE "C" NOT NULL,
    key_             text COLLATE "C" NOT NULL,
    operation        text COLLATE "C" NOT NULL,
    entry_created_at bigint           NOT NULL, -- the entry's created_at: a key that was started anew is another entry
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
    UNIQUE (tenant, space, key_, entry_created_at)
);
CREATE INDEX onlyonce_outbox_due ON onlyonce_outbox (due_at);
CREATE INDEX onlyonce_outbox_dead ON onlyonce_outbox (id) WHERE dead = 1;

INSERT INTO onlyonce_schema (version) VALUES (2);
