"""The tables of the SQLite file; a change of them is a new version."""

VERSION = 2

_ORIGINS = """
CREATE TABLE origins (
    topic TEXT NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    log TEXT NOT NULL,
    partition INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (topic, id, revision)
) WITHOUT ROWID;
"""

UPGRADES = {1: _ORIGINS}
"""Version -> what makes the next one of it."""

TABLES = (
    _ORIGINS
    + """
CREATE TABLE journal (
    -- AUTOINCREMENT: an offset is never given twice, even after everything was trimmed.
    offset INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    raw BLOB NOT NULL,
    received REAL NOT NULL
);

CREATE TABLE snapshots (
    key TEXT PRIMARY KEY,
    offset INTEGER NOT NULL,
    data BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE records (
    -- No AUTOINCREMENT: a record that stands already would use up a number, and the feed would have a gap.
    sequence INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    job TEXT NOT NULL,
    incident TEXT NOT NULL,
    raw BLOB NOT NULL,
    UNIQUE (topic, id, revision)
);
CREATE INDEX records_by_incident ON records (topic, incident, sequence);
CREATE INDEX records_by_job ON records (topic, job, sequence);

CREATE TABLE progress (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    upto INTEGER NOT NULL
);
INSERT INTO progress VALUES (1, 0);

CREATE TABLE incidents (
    id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    job TEXT NOT NULL,
    state TEXT NOT NULL,
    updated REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX incidents_by_change ON incidents (sequence);
CREATE INDEX incidents_by_job ON incidents (job, state);

CREATE TABLE incident_nodes (
    node TEXT NOT NULL,
    incident TEXT NOT NULL,
    PRIMARY KEY (node, incident)
) WITHOUT ROWID;

CREATE TABLE jobs (
    job TEXT PRIMARY KEY,
    attempt INTEGER NOT NULL,
    step INTEGER,
    time REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE signal_lists (
    id INTEGER PRIMARY KEY,
    names TEXT NOT NULL UNIQUE
);

CREATE TABLE vitals (
    job TEXT NOT NULL,
    kind TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    place REAL NOT NULL,
    step INTEGER,
    time REAL NOT NULL,
    -- One float64 for each name of the signal list; NaN: absent, infinite: was there but not finite.
    signals INTEGER NOT NULL REFERENCES signal_lists (id),
    readings BLOB NOT NULL,
    UNIQUE (job, kind, attempt, place)
);
CREATE INDEX vitals_by_time ON vitals (job, kind, time);

CREATE TABLE vitals_kept (
    job TEXT NOT NULL,
    kind TEXT NOT NULL,
    points INTEGER NOT NULL,
    PRIMARY KEY (job, kind)
) WITHOUT ROWID;

CREATE TABLE leases (
    target TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    token INTEGER NOT NULL,
    expires REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE work (
    key TEXT PRIMARY KEY,
    target TEXT NOT NULL,
    token INTEGER NOT NULL,
    outcome TEXT
) WITHOUT ROWID;

CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE positions (
    -- How far a stream of the log has been copied: the next offset to read.
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    next INTEGER NOT NULL,
    PRIMARY KEY (topic, partition)
) WITHOUT ROWID;

CREATE TABLE kill_switch (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    turned_on_by TEXT NOT NULL,
    time REAL NOT NULL
);
"""
)
