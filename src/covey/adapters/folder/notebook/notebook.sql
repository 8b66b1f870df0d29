-- name: set_up
-- A power cut may lose the newest rows: then the next look only repeats its work.
pragma journal_mode = wal;
pragma synchronous = normal

-- name: version
-- The version of the schema; 0 if there is none yet.
pragma user_version

-- name: create
-- Known files (a file without a stamp is owed: not written yet, or gone), entries that were set aside, marks of folders,
-- folders of agents, foreign names of agents, and single values.
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
-- Begin a transaction that writes.
begin immediate

-- name: commit
-- Commit the transaction.
commit

-- name: rollback
-- Roll back the transaction.
rollback

-- name: changes
-- A number that changes when another connection has written.
pragma data_version

-- name: check
-- Check for damage; the result is one row with ok if there is none.
pragma quick_check

-- name: in_folder
-- The files that should be in a folder.
select * from files where folder = ?

-- name: at
-- The file that should be at a path.
select * from files where folder = ? and name = ?

-- name: owed
-- Owed files.
select * from files where stamp = ''

-- name: standing
-- Files that are in their places, by path.
select * from files where stamp <> '' order by folder, name

-- name: by_id
-- Files with a file id.
select * from files where file_id = ? order by agent, folder, name

-- name: by_message
-- Files of a message.
select * from files where message_id = ? order by agent, folder, name

-- name: of_agent
-- Files of an agent's copy of a message. The limit bounds the cost if a file was duplicated very often.
select * from files where message_id = ? and agent = ? order by folder, name limit 64

-- name: messages
-- The next ids of messages.
select distinct message_id from files where message_id > ? order by message_id limit ?

-- name: count
-- The number of known files.
select count(*) from files

-- name: put
-- Remember a file.
insert or replace into files values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: forget
-- Forget a file.
delete from files where folder = ? and name = ?

-- name: asides
-- All entries that were set aside.
select * from aside order by folder, name

-- name: put_aside
-- Remember an entry that was set aside.
insert or replace into aside values (?, ?, ?, ?, ?)

-- name: forget_aside
-- Forget an entry that is gone, has changed, or was accepted.
delete from aside where folder = ? and name = ?

-- name: folders
-- Marks of the folders of one sort.
select folder, mtime, racy_since from folders where sort = ?

-- name: folder
-- The time in the mark of a folder, and the time of its last listing.
select mtime, listed_at from folders where folder = ?

-- name: leave
-- Store the mark of a folder that was listed.
insert or replace into folders values (?, ?, ?, ?, ?)

-- name: leave_again
-- Replace the mark of a folder; the time of its last listing stays.
update folders set mtime = ?2, racy_since = ?3 where folder = ?1

-- name: forget_folder
-- Forget a folder that is gone, and in which no file should be.
delete from folders where folder = ?

-- name: owners
-- Folders of agents that were reported.
select name from owners

-- name: own
-- Remember a folder of an agent as reported.
insert or ignore into owners values (?)

-- name: names
-- Agents with their foreign names.
select name, agent from names

-- name: call
-- Store the foreign name of an agent, which has one at a time.
insert or replace into names values (?, ?)

-- name: uncall
-- Forget the foreign name of an agent.
delete from names where agent = ?

-- name: marks
-- All marks.
select name, value from marks

-- name: put_mark
-- Store a mark.
insert or replace into marks values (?, ?)
