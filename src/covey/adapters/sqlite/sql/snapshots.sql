-- name: set_up
-- For a private file. The pragma that returns a row comes last, because the next statement would wait until it is read.
pragma synchronous = off;
pragma journal_mode = off

-- name: plain
-- Use a single file, without a log beside it.
pragma journal_mode = delete

-- name: detach
-- Turn the copy of a replica into an independent store.
drop table if exists replica

-- name: alone
-- Keep the file locked for other connections, from the next write on.
pragma locking_mode = exclusive

-- name: claim
-- Take the lock with an empty write transaction.
begin exclusive;
commit

-- name: position
-- The position of the newest event.
select coalesce(max(position), 0) from journal

-- name: tables
-- The names of the tables; an older store has fewer.
select name from sqlite_schema where type = 'table'

-- name: with_files
-- The messages that have files, in a store of any version.
select seq, id, cast(document as blob) from messages where has_files = 1 and seq > ? order by seq limit ?
