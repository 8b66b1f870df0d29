-- The ids of the messages that were pruned, for ever: 6 bytes for the milliseconds and 16 for the uuid.
create table pruned (id blob primary key) strict, without rowid;

-- The messages that have file parts, for finding the blobs that nobody refers to any more. A column, because looking
-- through the document of every message would cost a send a tenth more.
alter table messages add column has_files integer not null default 0;
update messages set has_files = 1 where instr(document, '"digest"') > 0;
create index messages_with_files on messages (seq) where has_files = 1;
