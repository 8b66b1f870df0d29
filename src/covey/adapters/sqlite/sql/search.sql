-- These statements run on the search index, a separate database beside the store.

-- name: set_up
-- The index is disposable: after a crash or a power cut it can be rebuilt, so it never waits for the disk.
pragma synchronous = off;
pragma cache_size = -16384

-- name: version
-- The version of the index; 0 if there is none yet.
pragma user_version

-- name: create
-- The index, and its progress: the place and the id of the last indexed message.
create virtual table words using fts5 (
    subject, text, id unindexed, scope unindexed, kind unindexed, sender unindexed, created_at unindexed,
    tokenize = 'unicode61 remove_diacritics 0'
);
create table progress (seq integer not null, id text not null) strict;
insert into progress values (0, '');
pragma user_version = 2

-- name: progress
-- The place and the id of the last indexed message.
select seq, id from progress

-- name: advance
-- Store the place and the id of the last indexed message.
update progress set seq = ?, id = ?

-- name: next_places
-- The next places of indexed messages.
select id from words_docsize where id > ? order by id limit ?

-- name: newest
-- The newest indexed messages, newest first.
select rowid, id from words order by rowid desc limit ?

-- name: drop
-- Remove one message.
delete from words where rowid = ?

-- name: take_in
-- Add one message.
insert into words (rowid, subject, text, id, scope, kind, sender, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)

-- name: find
-- The messages that match, by rank; those of the same rank by age, oldest first.
select id, snippet(words, -1, '«', '»', '…', 24) from words where words match ? order by rank, rowid limit ?

-- name: find_fitting
-- The matching messages of a scope, a subject, a kind, a sender or a time; scans every message that has the words.
select id, snippet(words, -1, '«', '»', '…', 24) from words
where words match ?1 and (?3 is null or scope = ?3) and (?4 is null or subject = ?4) and (?5 is null or kind = ?5)
    and (?6 is null or sender = ?6) and (?7 is null or created_at > ?7)
order by rank, rowid limit ?2
