-- Who changed an entry's state, when, from what to what, and why: one row for each change, kept longer than the entry.
-- The first change of an entry has no row of its own: the row of the change after it says when and by whom the entry was made.
CREATE TABLE IF NOT EXISTS onlyonce_audit (
    id               BIGINT          NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at               BIGINT          NOT NULL,
    tenant           VARBINARY(1020) NOT NULL,
    space            VARBINARY(1020) NOT NULL,
    key_             VARBINARY(1020) NOT NULL,
    operation        VARBINARY(1020) NOT NULL,
    entry_created_at BIGINT          NOT NULL, -- the entry's created_at: a key that was started anew is another entry
    made_by          VARBINARY(1020),          -- who made the entry; null: who made this change
    attempt          INT             NOT NULL,
    from_state       SMALLINT,                 -- as in onlyonce_entry; null: there was none
    to_state         SMALLINT,                 -- null: deleted
    who              VARBINARY(1020) NOT NULL, -- a node, sweeper, reaper, reconciler, an operator
    why              VARBINARY(2000) NOT NULL,
    INDEX onlyonce_audit_at (at),
    INDEX onlyonce_audit_entry (tenant, space, key_),
    CONSTRAINT onlyonce_audit_state CHECK (from_state BETWEEN 1 AND 7 AND to_state BETWEEN 1 AND 7)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

INSERT INTO onlyonce_schema (version) VALUES (4);
