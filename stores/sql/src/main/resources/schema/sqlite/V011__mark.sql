-- How nodes recognise this database: a row that is no entry, with a random id in its column owner. It is among the entries so that
-- whoever removes all of them removes it too, and then nodes refuse the database until an operator accepts it. Leave it where it is: what
-- empties the table for tests says WHERE fingerprint_version > 0.
INSERT INTO onlyonce_entry (
    tenant, space, key_, operation, fingerprint_version, fingerprint, state, owner, attempt,
    lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
VALUES ('', '', 'onlyonce store', 'store', 0, x'', 6, lower(hex(randomblob(16))),
    0, 0, 1, 0, 0, 0, 9000000000000000, 9000000000000000);

INSERT INTO onlyonce_schema (version) VALUES (11);
