-- The leases of a fleet, version 1, as their authority keeps them.

-- The highest fence that was given to a lease whose row is gone. It starts at the milliseconds since the epoch of the
-- moment the database was made, so that losing the database does not take the fence back.
CREATE TABLE fence (
    floor INTEGER NOT NULL
) STRICT;

-- Every lease: those in force, and those that have ended for as long as their ids are remembered. Rows are found by
-- fence alone, so that a claim writes one page: which ids are in use is known in memory.
CREATE TABLE leases (
    fence       INTEGER PRIMARY KEY,
    id          TEXT NOT NULL,
    owner       TEXT NOT NULL,
    kind        TEXT NOT NULL,
    value       TEXT NOT NULL,
    mode        TEXT NOT NULL,
    reason      TEXT,
    ttl_secs    INTEGER NOT NULL,
    acquired_at INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    status      TEXT NOT NULL,
    ended_at    INTEGER
) STRICT;

-- Ids that were released without ever having been a lease: by one that waited (nobody may use them any more), or by one
-- whose claim never came (that owner may not).
CREATE TABLE spent (
    lease_id TEXT NOT NULL,
    owner    TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    waited   INTEGER NOT NULL,
    PRIMARY KEY (lease_id, owner)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
