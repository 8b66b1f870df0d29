-- These run on the index, a database of its own beside the store.

-- name: set_up
-- It is disposable: neither a crash nor a power cut may cost more than making it anew, so it never waits for the disk.
pragma synchronous = off;
pragma cache_size = -16384

-- name: version
-- Which form of the index the file has; 0 where it has none yet.
pragma user_version

-- name: create
-- The index, and how far it has come: the place and the id of the last message that it took in.
create virtual table words using fts5 (subject, text, id unindexed, tokenize = 'unicode61 remove_diacritics 0');
create table progress (seq integer not null, id text not null) strict;
insert into progress values (0, '');
pragma user_version = 1

-- name: progress
-- How far it has come.
select seq, id from progress

-- name: advance
-- How far it has come now.
update progress set seq = ?, id = ?

-- name: take_in
-- One message.
insert into words (rowid, subject, text, id) values (?, ?, ?, ?)

-- name: find
-- The messages that fit, best first; of those that fit as well the oldest first.
select id, snippet(words, -1, '«', '»', '…', 24) from words where words match ? order by rank, rowid limit ?
