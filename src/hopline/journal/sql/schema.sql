-- The index of a journal, version 2. A cache: everything here can be read again from the segments.

-- Whose segments these are, so that an index copied beside other segments is not believed.
CREATE TABLE store (
    store_id TEXT NOT NULL,
    run_id   TEXT NOT NULL
) STRICT;

-- What is known of each segment's first `size` bytes; `sealed` once nothing will be added to it.
CREATE TABLE segments (
    first_sequence INTEGER PRIMARY KEY,
    last_sequence  INTEGER NOT NULL,
    size           INTEGER NOT NULL,
    crc32          INTEGER NOT NULL,
    sealed         INTEGER NOT NULL
) STRICT;

-- Sparse places to start reading from: the line with `sequence` begins at `offset` of `segment`, and the bytes of the
-- segment before it sum to `crc32`.
CREATE TABLE marks (
    sequence INTEGER PRIMARY KEY,
    segment  INTEGER NOT NULL,
    offset   INTEGER NOT NULL,
    crc32    INTEGER NOT NULL
) STRICT;

-- Where the lines lie that every bootstrap carries; segment 0 is segments/spine.jsonl.
CREATE TABLE spine (
    sequence INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    segment  INTEGER NOT NULL,
    offset   INTEGER NOT NULL,
    size     INTEGER NOT NULL
) STRICT;

-- Bytes that were no events when they were indexed, so that their checksum vouches for nothing.
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
