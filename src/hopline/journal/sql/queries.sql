-- name: read_version
-- Which schema this file has; 0 means none yet.
PRAGMA user_version;

-- name: name_store
-- Say whose segments these are.
INSERT INTO store (store_id, run_id) VALUES (:store_id, :run_id);

-- name: read_store
-- Whose segments these are.
SELECT store_id, run_id FROM store;

-- name: put_segment
-- A segment is new, has grown, or is sealed.
INSERT INTO segments (first_sequence, last_sequence, size, crc32, sealed) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (first_sequence) DO UPDATE SET
    last_sequence = excluded.last_sequence, size = excluded.size, crc32 = excluded.crc32, sealed = excluded.sealed;

-- name: put_mark
-- A place to start reading from.
INSERT OR REPLACE INTO marks (sequence, segment, offset, crc32) VALUES (?, ?, ?, ?);

-- name: put_spine
-- A line that every bootstrap carries.
INSERT OR REPLACE INTO spine (sequence, kind, segment, offset, size) VALUES (?, ?, ?, ?, ?);

-- name: put_damage
-- Bytes of a segment that are no events.
INSERT OR REPLACE INTO damage (segment, start, stop, first_sequence, last_sequence, reason)
VALUES (?, ?, ?, ?, ?, ?);

-- name: list_segments
-- Every segment known, oldest first.
SELECT first_sequence, last_sequence, size, crc32, sealed FROM segments ORDER BY first_sequence;

-- name: list_spine
-- Every spine line, in order.
SELECT sequence, kind, segment, offset, size FROM spine ORDER BY sequence;

-- name: marks_around
-- The marks from the last one at or before :first to the first one after :last, for reading between them.
SELECT sequence, segment, offset, crc32 FROM marks
WHERE
    segment = :segment
    AND sequence >= coalesce((SELECT max(sequence) FROM marks WHERE sequence BETWEEN :segment AND :first), :segment)
    AND sequence <= coalesce((SELECT min(sequence) FROM marks WHERE sequence > :last), :last)
ORDER BY sequence;

-- name: damaged_places
-- Where a segment held no events when it was indexed.
SELECT start, stop FROM damage WHERE segment = ?;

-- name: read_segment
-- How far one segment is known.
SELECT first_sequence, last_sequence, size, crc32, sealed FROM segments WHERE first_sequence = ?;

-- name: last_mark
-- The offset of the last mark of a segment, to go on marking from.
SELECT coalesce(max(offset), 0) FROM marks WHERE segment = ?;

-- name: forget_segment
-- The segment is gone, or is read anew.
DELETE FROM segments WHERE first_sequence = ?;

-- name: forget_marks
-- The marks of a segment that is gone or read anew.
DELETE FROM marks WHERE segment = ?;

-- name: forget_spine
-- The spine lines that lie in a segment that is gone or read anew.
DELETE FROM spine WHERE segment = ?;

-- name: forget_damage
-- The damage of a segment that is gone or read anew.
DELETE FROM damage WHERE segment = ?;
