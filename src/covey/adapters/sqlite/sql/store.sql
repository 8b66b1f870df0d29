-- name: begin
-- Begin to write; nobody else can until this ends.
begin immediate

-- name: view
-- Begin to read one consistent view.
begin deferred

-- name: commit
-- Make everything durable at once.
commit

-- name: rollback
-- Undo everything since begin.
rollback

-- name: mark
-- Remember this point, so that one operation among several can be undone alone.
savepoint operation

-- name: undo
-- Undo what one operation wrote.
rollback to operation

-- name: keep
-- Forget the mark of an operation that went well, or was undone.
release operation

-- name: version
-- A number that changes when another connection has committed something.
pragma data_version

-- name: last
-- The last number that was given to an event or a placed delivery: both count with one counter.
select max(coalesce((select max(position) from journal), 0), coalesce((select max(seq) from deliveries), 0))

-- name: schema
-- How many tables and indexes the file has; none in a new one.
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
-- The mark of the program that made the file; 0 where it made none.
pragma application_id

-- name: mark_store
-- Mark the file as a Covey store: 0x436F7679, the letters Covy.
pragma application_id = 1131378297

-- name: log_ahead
-- From now on writers append to a log, and readers do not wait for them. The file remembers it.
pragma journal_mode = wal

-- name: give_pages_back
-- A file without tables can give free pages back later, a few at a time. It remembers it.
pragma auto_vacuum = incremental

-- name: applied
-- The migrations that the file has gone through.
select name from migrations

-- name: start
-- The list of migrations itself comes before the first of them.
create table if not exists migrations (name text primary key, applied_at text not null) strict, without rowid

-- name: apply
-- Note that a migration was done.
insert into migrations (name, applied_at) values (?, strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now'))

-- name: check
-- Look for damage; one row with ok where there is none.
pragma integrity_check

-- name: quick_check
-- The same without comparing the indexes with their tables.
pragma quick_check

-- name: reindex
-- Make all indexes anew.
reindex

-- name: uncount
-- Forget how many are queued.
delete from inboxes

-- name: recount
-- Count again how many are queued.
insert into inboxes (inbox, queued) select inbox, count(*) from deliveries where state = 'queued' group by inbox

-- name: miscounted
-- The inboxes whose count of queued deliveries is not what is there.
select inbox from (
    select inbox, count(*) as there, 0 as counted from deliveries where state = 'queued' group by inbox
    union all
    select inbox, 0, queued from inboxes
) group by inbox having sum(there) <> sum(counted)
