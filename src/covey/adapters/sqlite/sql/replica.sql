-- name: create
-- The state of a replica: the identity of its log, the position up to which it was applied, and the last accepted
-- record up to there. This table is never part of a record.
create table if not exists replica (
    one integer primary key check (one = 1),
    log text not null,
    position integer not null,
    record text not null,
    record_at integer not null
) strict;
insert into replica (one, log, position, record, record_at) values (1, '', 0, '', 0) on conflict do nothing

-- name: state
-- The state of this replica.
select log, position, record, record_at from replica where one = 1

-- name: advance
-- Store the new state.
update replica set log = ?, position = ?, record = ?, record_at = ? where one = 1

-- name: is_replica
-- Whether the file is a replica.
select count(*) from sqlite_schema where type = 'table' and name = 'replica'

-- name: tables
-- The columns of all tables, in their order: whether the table has no rowid, the place in the primary key, and the
-- default value.
select list.name, list.wr, info.name, info.type, info.pk, info.dflt_value
from pragma_table_list as list join pragma_table_info(list.name) as info
where list.schema = 'main' and list.type = 'table' and list.name not like 'sqlite\_%' escape '\'
order by list.name, info.cid
