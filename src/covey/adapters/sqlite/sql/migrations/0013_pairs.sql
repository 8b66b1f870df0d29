-- Which message a dialogue of two sessions begins with. It stands in the marks of the message, too: these are its index.
create table pairs (
    number integer primary key,
    pair text not null,
    message_id text not null
);
create index pairs_by_pair on pairs (pair);
create index pairs_by_message on pairs (message_id);

-- Ids of foreign programs stood in the metadata, where any sender could write them; now they are marks.
update messages
set document = json_set(
    json_remove(document, '$.metadata.foreign_id'),
    '$.marks',
    json_object(
        'foreign_id', document ->> '$.metadata.foreign_id', 'foreign_task', document ->> '$.metadata.foreign.task_id'
    )
)
where instr(document, '"foreign_id"') > 0
    and case when json_valid(document) then json_type(document, '$.metadata.foreign_id') = 'text' else 0 end;
