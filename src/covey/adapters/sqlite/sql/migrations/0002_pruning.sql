-- The ids of pruned messages, kept for ever: 6 bytes for the milliseconds and 16 for the uuid.
create table pruned (id blob primary key) strict, without rowid;

-- The messages that have file parts, for finding unreferenced blobs. A column, because parsing the document of every
-- message would make a send a tenth slower.
alter table messages add column has_files integer not null default 0;
update messages set has_files = 1 where instr(document, '"digest"') > 0;
create index messages_with_files on messages (seq) where has_files = 1;
