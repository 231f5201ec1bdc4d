-- Version 1 named the store in a table of keys and values, with the last indexed sequence, and let each segment's end
-- be inferred from the segment after it. Version 2 says both outright, so that one row tells where to catch up from, and
-- remembers damage; version 1 refused to index any, so there is none to remember.
CREATE TABLE store (
    store_id TEXT NOT NULL,
    run_id   TEXT NOT NULL
) STRICT;

INSERT INTO store (store_id, run_id)
SELECT (SELECT value FROM meta WHERE key = 'store_id'), (SELECT value FROM meta WHERE key = 'run_id');

ALTER TABLE segments RENAME TO segments_1;

CREATE TABLE segments (
    first_sequence INTEGER PRIMARY KEY,
    last_sequence  INTEGER NOT NULL,
    size           INTEGER NOT NULL,
    crc32          INTEGER NOT NULL,
    sealed         INTEGER NOT NULL
) STRICT;

INSERT INTO segments (first_sequence, last_sequence, size, crc32, sealed)
SELECT
    old.first_sequence,
    coalesce(
        (SELECT min(later.first_sequence) - 1 FROM segments_1 AS later WHERE later.first_sequence > old.first_sequence),
        (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'last_sequence')
    ),
    old.size,
    old.crc32,
    EXISTS (SELECT 1 FROM segments_1 AS later WHERE later.first_sequence > old.first_sequence)
FROM segments_1 AS old;

DROP TABLE segments_1;
DROP TABLE meta;

CREATE TABLE damage (
    segment        INTEGER NOT NULL,
    start          INTEGER NOT NULL,
    stop           INTEGER NOT NULL,
    first_sequence INTEGER NOT NULL,
    last_sequence  INTEGER NOT NULL,
    reason         TEXT NOT NULL,
    PRIMARY KEY (segment, start, stop)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 2;
