-- name: read_version
-- Which schema this file has; 0 means none yet.
PRAGMA user_version;

-- name: start_fence
-- A new database begins above any fence that a lost one can have given.
INSERT INTO fence (floor) VALUES (?);

-- name: read_fence
-- The highest fence ever given.
SELECT max((SELECT max(floor) FROM fence), coalesce((SELECT max(fence) FROM leases), 0));

-- name: raise_fence
-- Remember the highest fence before the rows go that may carry it.
UPDATE fence SET floor = max(floor, ?);

-- name: list_leases
-- Every lease, in force or ended, in the order they were granted.
SELECT fence, id, owner, kind, value, mode, reason, ttl_secs, acquired_at, expires_at, status, ended_at
FROM leases ORDER BY fence;

-- name: list_spent
-- Every id that never was a lease and is none any more.
SELECT lease_id, owner, ended_at, waited FROM spent;

-- name: grant
-- A lease is new.
INSERT INTO leases (
    fence, id, owner, kind, value, mode, reason, ttl_secs, acquired_at, expires_at, status, ended_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: renew
-- A lease lasts longer.
UPDATE leases SET expires_at = ? WHERE fence = ?;

-- name: end
-- A lease was released or has run out.
UPDATE leases SET status = ?, ended_at = ? WHERE fence = ?;

-- name: spend
-- An id was released that is no lease.
INSERT INTO spent (lease_id, owner, ended_at, waited) VALUES (?, ?, ?, ?);

-- name: forget_lease
-- An ended lease is remembered no longer.
DELETE FROM leases WHERE fence = ?;

-- name: forget_spent
-- A spent id is remembered no longer.
DELETE FROM spent WHERE lease_id = ? AND owner = ?;

-- name: make_padding
-- Room in the write-ahead log: a commit that overwrites what the log has already is one that changes no file size.
CREATE TABLE padding (bytes BLOB);

-- name: fill_padding
-- As long as the log is to be.
INSERT INTO padding (bytes) VALUES (zeroblob(?));

-- name: drop_padding
-- Its pages are used by later rows. One may be left by a hub that had no room for all of it.
DROP TABLE IF EXISTS padding;

-- name: restart_log
-- Copy all of the log into the database, and write the log from its beginning again.
PRAGMA wal_checkpoint(RESTART);

-- name: fold_log
-- Copy the log into the database, as far as no reader is in the way.
PRAGMA wal_checkpoint(PASSIVE);
