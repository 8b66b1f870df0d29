-- name: begin
-- Begin a write transaction, which excludes other writers.
begin immediate

-- name: view
-- Begin a read transaction on a snapshot.
begin deferred

-- name: commit
-- Commit the transaction.
commit

-- name: rollback
-- Roll back the transaction.
rollback

-- name: mark
-- Set a savepoint, so that one operation among several can be rolled back alone.
savepoint operation

-- name: undo
-- Roll back one operation.
rollback to operation

-- name: keep
-- Release the savepoint of an operation that succeeded or was rolled back.
release operation

-- name: version
-- A number that changes when another connection has committed something.
pragma data_version

-- name: last
-- The last number of an event or a delivery: both use one counter.
select max(coalesce((select max(position) from journal), 0), coalesce((select max(seq) from deliveries), 0))

-- name: schema
-- The number of tables and indexes of the file; 0 in a new file.
select count(*) from sqlite_schema

-- name: directory
-- A number that changes when an agent, a session or a setting does.
select changes from directory

-- name: change_directory
-- Count that an agent, a session or a setting has changed.
update directory set changes = changes + 1

-- name: schema_number
-- A number that changes when the tables or indexes do.
pragma schema_version

-- name: read_mark
-- The application id of the file; 0 if it has none.
pragma application_id

-- name: mark_store
-- Mark the file as a Covey store: 0x436F7679, the letters Covy.
pragma application_id = 1131378297

-- name: log_ahead
-- Switch to a write-ahead log, so that readers do not wait for writers. The setting is stored in the file.
pragma journal_mode = wal

-- name: give_pages_back
-- Let the file return free pages later, a few at a time. Works only before the first table; stored in the file.
pragma auto_vacuum = incremental

-- name: applied
-- The migrations that were applied to the file.
select name from migrations

-- name: start
-- The table of migrations, created before the first migration.
create table if not exists migrations (name text primary key, applied_at text not null) strict, without rowid

-- name: apply
-- Record that a migration was applied.
insert into migrations (name, applied_at) values (?, strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now'))

-- name: check
-- Check for damage; the result is one row with ok if there is none.
pragma integrity_check

-- name: quick_check
-- Check for damage without comparing the indexes with their tables.
pragma quick_check

-- name: reindex
-- Rebuild all indexes.
reindex

-- name: uncount
-- Remove all counts of queued deliveries.
delete from inboxes

-- name: recount
-- Count the queued deliveries of each inbox again.
insert into inboxes (inbox, queued) select inbox, count(*) from deliveries where state = 'queued' group by inbox

-- name: miscounted
-- The inboxes whose count of queued deliveries is wrong.
select inbox from (
    select inbox, count(*) as there, 0 as counted from deliveries where state = 'queued' group by inbox
    union all
    select inbox, 0, queued from inboxes
) group by inbox having sum(there) <> sum(counted)
