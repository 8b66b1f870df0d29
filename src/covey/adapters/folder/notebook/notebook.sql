-- name: set_up
-- Losing the newest rows in a power cut only means to look again.
pragma journal_mode = wal;
pragma synchronous = normal

-- name: version
-- Which form the notebook has; 0 where it has none yet.
pragma user_version

-- name: create
-- What stands where (a file without a stamp is owed: not there yet, or gone), what was set aside, how folders were left,
-- what agents are called by others, and single marks.
create table files (
    folder text not null, name text not null, file_id text not null, message_id text not null, agent text not null,
    shelf text not null, owner text not null, scope text not null, is_ours integer not null, digest text not null,
    stamp text not null, primary key (folder, name)
) strict, without rowid;
create index files_by_id on files (file_id);
create index files_by_message on files (message_id, agent);
create index files_owed on files (folder) where stamp = '';
create table aside (
    folder text not null, name blob not null, kind text not null, stamp text not null, problem text not null,
    primary key (folder, name)
) strict, without rowid;
create table folders (
    folder text primary key, sort text not null, mtime integer not null, racy_since integer not null,
    listed_at real not null
) strict, without rowid;
create table owners (name text primary key) strict, without rowid;
create table names (name text primary key, agent text not null) strict, without rowid;
create index names_by_agent on names (agent);
create table marks (name text primary key, value text not null) strict, without rowid;
pragma user_version = 3

-- name: begin
-- Begin to write.
begin immediate

-- name: commit
-- Keep it.
commit

-- name: rollback
-- Undo it.
rollback

-- name: changes
-- A number that changes when another connection has written.
pragma data_version

-- name: check
-- Look for damage; one row with ok where there is none.
pragma quick_check

-- name: in_folder
-- What should stand in one folder.
select * from files where folder = ?

-- name: at
-- What should stand in one place.
select * from files where folder = ? and name = ?

-- name: owed
-- What is owed to the folders.
select * from files where stamp = ''

-- name: standing
-- What stands in the folders, by place.
select * from files where stamp <> '' order by folder, name

-- name: by_id
-- Everything under one id of a file.
select * from files where file_id = ? order by agent, folder, name

-- name: by_message
-- Everything of one message.
select * from files where message_id = ? order by agent, folder, name

-- name: of_agent
-- What an agent has of one message. Somebody may have copied one file very often: then some of them are enough.
select * from files where message_id = ? and agent = ? order by folder, name limit 64

-- name: messages
-- The next messages.
select distinct message_id from files where message_id > ? order by message_id limit ?

-- name: count
-- How many files are known.
select count(*) from files

-- name: put
-- Remember a file.
insert or replace into files values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: forget
-- Forget a file.
delete from files where folder = ? and name = ?

-- name: asides
-- All that was set aside.
select * from aside order by folder, name

-- name: put_aside
-- Remember what was set aside.
insert or replace into aside values (?, ?, ?, ?, ?)

-- name: forget_aside
-- It is gone, or was taken in.
delete from aside where folder = ? and name = ?

-- name: folders
-- How the folders of one sort were left.
select folder, mtime, racy_since from folders where sort = ?

-- name: folder
-- How one folder was left.
select mtime, listed_at from folders where folder = ?

-- name: leave
-- How a folder was left, now that it was looked through.
insert or replace into folders values (?, ?, ?, ?, ?)

-- name: leave_again
-- How a folder was left by ourselves; when it was looked through stays.
update folders set mtime = ?2, racy_since = ?3 where folder = ?1

-- name: forget_folder
-- It is gone, and nothing should be in it.
delete from folders where folder = ?

-- name: owners
-- The folders of agents that were told.
select name from owners

-- name: own
-- One more.
insert or ignore into owners values (?)

-- name: names
-- What agents are called by others.
select name, agent from names

-- name: call
-- The foreign name of an agent; it has one at a time.
insert or replace into names values (?, ?)

-- name: uncall
-- Forget what an agent was called.
delete from names where agent = ?

-- name: marks
-- All marks.
select name, value from marks

-- name: put_mark
-- Set it.
insert or replace into marks values (?, ?)
