-- How far a stepped operation has come: one row for each step that was started or finished.
CREATE TABLE IF NOT EXISTS onlyonce_step (
    tenant           BINARY VARYING(1020) NOT NULL,
    space            BINARY VARYING(1020) NOT NULL,
    key_             BINARY VARYING(1020) NOT NULL,
    entry_created_at BIGINT               NOT NULL, -- the entry's created_at: a key that was started anew is another entry
    number           INTEGER              NOT NULL, -- its place in the flow, from 1
    name             BINARY VARYING(1020) NOT NULL,
    state            SMALLINT             NOT NULL, -- 1 started 2 finished 3 started, and its entry was settled as unknown for it
    result           BINARY VARYING,
    PRIMARY KEY (tenant, space, key_, entry_created_at, number),
    CONSTRAINT onlyonce_step_state CHECK (state BETWEEN 1 AND 3)
);

INSERT INTO onlyonce_schema (version) VALUES (3);
