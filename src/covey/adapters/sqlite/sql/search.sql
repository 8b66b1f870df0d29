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
create virtual table words using fts5 (
    subject, text, id unindexed, scope unindexed, kind unindexed, sender unindexed, created_at unindexed,
    tokenize = 'unicode61 remove_diacritics 0'
);
create table progress (seq integer not null, id text not null) strict;
insert into progress values (0, '');
pragma user_version = 2

-- name: progress
-- How far it has come.
select seq, id from progress

-- name: advance
-- How far it has come now.
update progress set seq = ?, id = ?

-- name: next_places
-- The next places of messages that it has taken in.
select id from words_docsize where id > ? order by id limit ?

-- name: newest
-- The newest messages that it has taken in, newest first.
select rowid, id from words order by rowid desc limit ?

-- name: drop
-- One message that is gone.
delete from words where rowid = ?

-- name: take_in
-- One message.
insert into words (rowid, subject, text, id, scope, kind, sender, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)

-- name: find
-- The messages that fit, best first; of those that fit as well the oldest first.
select id, snippet(words, -1, '«', '»', '…', 24) from words where words match ? order by rank, rowid limit ?

-- name: find_fitting
-- The same among those of a scope, a subject, a kind, a sender or a time; looks at every message that has the words.
select id, snippet(words, -1, '«', '»', '…', 24) from words
where words match ?1 and (?3 is null or scope = ?3) and (?4 is null or subject = ?4) and (?5 is null or kind = ?5)
    and (?6 is null or sender = ?6) and (?7 is null or created_at > ?7)
order by rank, rowid limit ?2
