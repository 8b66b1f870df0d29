-- name: set_up
-- A file that nobody else knows. The one that answers comes last: what follows an answer waits until it is read.
pragma synchronous = off;
pragma journal_mode = off

-- name: plain
-- A file by itself, without a log beside it.
pragma journal_mode = delete

-- name: detach
-- The copy of a replica is a store of its own.
drop table if exists replica

-- name: alone
-- From now on nobody else can open the file, once it was written to.
pragma locking_mode = exclusive

-- name: claim
-- Write to it, without changing anything.
begin exclusive;
commit

-- name: position
-- The position of the newest event.
select coalesce(max(position), 0) from journal

-- name: tables
-- What tables there are: an older store has fewer.
select name from sqlite_schema where type = 'table'

-- name: with_files
-- The messages that have files, in a store of any version.
select seq, id, cast(document as blob) from messages where has_files = 1 and seq > ? order by seq limit ?
