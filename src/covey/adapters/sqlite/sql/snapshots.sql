-- name: set_up
-- A file that nobody else knows. The one that answers comes last: what follows an answer waits until it is read.
pragma synchronous = off;
pragma journal_mode = off

-- name: plain
-- A file by itself, without a log beside it.
pragma journal_mode = delete

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

-- name: counts
-- How many records of each kind there are.
select 'agents', count(*) from agents
union all select 'sessions', count(*) from sessions
union all select 'messages', count(*) from messages
union all select 'deliveries', count(*) from deliveries
union all select 'tickets', count(*) from tickets
union all select 'offers', count(*) from offers
union all select 'events', count(*) from journal
