-- How far a stepped operation has come: one row for each step that was started or finished.
CREATE TABLE onlyonce_step (
    tenant           text COLLATE "C" NOT NULL,
    space            text COLLATE "C" NOT NULL,
    key_             text COLLATE "C" NOT NULL,
    entry_created_at bigint           NOT NULL, -- the entry's created_at: a key that was started anew is another entry
    number           integer          NOT NULL, -- its place in the flow, from 1
    name             text COLLATE "C" NOT NULL,
    state            smallint         NOT NULL, -- 1 started 2 finished 3 started, and its entry was settled as unknown for it
    result           bytea,
    PRIMARY KEY (tenant, space, key_, entry_created_at, number)
);

INSERT INTO onlyonce_schema (version) VALUES (3);
