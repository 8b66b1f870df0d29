-- The ids of the messages that were pruned, for ever: 6 bytes for the milliseconds and 16 for the uuid.
create table pruned (id blob primary key) strict, without rowid;

-- The messages that may have file parts, for finding the blobs that nobody refers to any more.
create index messages_with_files on messages (seq) where instr(document, '"digest"') > 0;
