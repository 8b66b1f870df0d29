-- The first message of each dialogue of two sessions: an index of the marks of messages.
create table pairs (
    number integer primary key,
    pair text not null,
    message_id text not null
);
create index pairs_by_pair on pairs (pair);
create index pairs_by_message on pairs (message_id);

-- Move ids of foreign programs from the metadata, where any sender could write them, to marks.
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
