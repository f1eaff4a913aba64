-- Who changed an entry's state, when, from what to what, and why: one row for each change, kept longer than the entry.
-- The first change of an entry has no row of its own: the row of the change after it says when and by whom the entry was made.
CREATE TABLE onlyonce_audit (
    at               bigint           NOT NULL,
    id               bigint           GENERATED ALWAYS AS IDENTITY, -- the order of changes that happened at the same time
    tenant           text COLLATE "C" NOT NULL,
    space            text COLLATE "C" NOT NULL,
    key_             text COLLATE "C" NOT NULL,
    operation        text COLLATE "C" NOT NULL,
    entry_created_at bigint           NOT NULL, -- the entry's created_at: a key that was started anew is another entry
    made_by          text,                      -- who made the entry; null: who made this change
    attempt          integer          NOT NULL,
    from_state       smallint,                  -- as in onlyonce_entry; null: there was none
    to_state         smallint,                  -- null: deleted
    who              text             NOT NULL, -- a node, sweeper, reaper, reconciler, an operator
    why              text             NOT NULL,
    PRIMARY KEY (at, id)
);
CREATE INDEX onlyonce_audit_entry ON onlyonce_audit (tenant, space, key_);

INSERT INTO onlyonce_schema (version) VALUES (4);
