-- The first form of the index, kept to prove that it is migrated.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE segments (
    first_sequence INTEGER PRIMARY KEY,
    size           INTEGER NOT NULL,
    crc32          INTEGER NOT NULL
) STRICT;

CREATE TABLE marks (
    sequence INTEGER PRIMARY KEY,
    segment  INTEGER NOT NULL,
    offset   INTEGER NOT NULL,
    crc32    INTEGER NOT NULL
) STRICT;

CREATE TABLE spine (
    sequence INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    segment  INTEGER NOT NULL,
    offset   INTEGER NOT NULL,
    size     INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 1;
