-- name: add
-- File a message whose id is new.
insert into messages (id, thread, scope, subject, kind, sender, created_at, document, has_files, checksum)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: get
-- One message by id. The document is read as bytes, because a damaged document may be no valid text.
select cast(document as blob), checksum from messages where id = ?

-- name: thread
-- The first message of a thread, then all others, in the order of acceptance.
select id, cast(document as blob), checksum from (
    select seq, id, document, checksum from messages where id = ?1 and thread = ?1
    union all
    select seq, id, document, checksum from messages where thread = ?1 and thread <> id
) order by seq

-- name: newest
-- The newest messages that match, in any scope and on any subject; scans backwards from the end.
select id, cast(document as blob), checksum from messages
where (?1 is null or kind = ?1) and (?2 is null or sender = ?2) and (?3 is null or created_at > ?3)
order by seq desc limit ?4

-- name: newest_in_scope
-- The newest messages of one scope that match.
select id, cast(document as blob), checksum from messages
where scope = ?5 and (?6 is null or subject = ?6)
    and (?1 is null or kind = ?1) and (?2 is null or sender = ?2) and (?3 is null or created_at > ?3)
order by seq desc limit ?4

-- name: newest_on_subject
-- The newest messages on one subject that match, in any scope.
select id, cast(document as blob), checksum from messages
where subject = ?5
    and (?1 is null or kind = ?1) and (?2 is null or sender = ?2) and (?3 is null or created_at > ?3)
order by seq desc limit ?4

-- name: add_pair
-- Record the first message of a dialogue of two sessions.
insert into pairs (pair, message_id) values (?, ?)

-- name: latest_of
-- The first message of the newest dialogue of two sessions.
select id, cast(document as blob), checksum
from pairs join messages on messages.id = pairs.message_id where pair = ? order by number desc limit 1

-- name: is_swept
-- Whether one message is swept.
select swept from messages where id = ?

-- name: sweep
-- Mark the messages of a scope as swept.
update messages set swept = 1 where scope = ? and swept = 0 returning seq

-- name: sweep_one
-- Mark one message as swept.
update messages set swept = 1 where id = ?

-- name: after
-- The messages that the search index does not have yet.
select seq, id, cast(document as blob), checksum from messages where seq > ? order by seq limit ?

-- name: at
-- The message with this place in the order of acceptance.
select id from messages where seq = ?

-- name: between
-- The places in a range that have a message.
select seq from messages where seq > ? and seq <= ?

-- name: behind
-- The number of messages that the search index does not have yet.
select count(*) from messages where seq > ?

-- name: newest_seq
-- The place of the newest message.
select coalesce(max(seq), 0) from messages

-- name: to_check
-- Every message that has a checksum. Texts are read as bytes, because damaged ones may be no valid text.
select seq, cast(id as blob), cast(document as blob), checksum from messages where checksum is not null order by seq

-- name: not_json
-- The messages whose document is not valid JSON.
select seq, cast(id as blob) from messages where not json_valid(document) order by seq

-- name: misfiled
-- The messages whose columns contradict their document.
select seq, cast(id as blob) from messages
where json_valid(document) and (
    id is not document ->> 'id' or thread is not coalesce(document ->> 'thread', id) or scope is not document ->> 'scope'
    or subject is not document ->> 'subject' or kind is not document ->> 'kind'
    or sender is not document -> 'from' ->> 'agent' or created_at is not document ->> 'created_at'
    or has_files is not exists (select 1 from json_each(document, '$.parts') as part where part.value ->> 'type' = 'file')
)
order by seq

-- name: unsummed
-- The messages without a checksum after the first message with one.
select seq, cast(id as blob) from messages
where checksum is null and seq > (select min(seq) from messages where checksum is not null) order by seq
