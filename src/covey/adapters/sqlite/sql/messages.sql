-- name: add
-- File a message whose id is new.
insert into messages (id, thread, scope, subject, kind, sender, created_at, document, has_files)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: get
-- One message by id.
select document from messages where id = ?

-- name: thread
-- The first message of a thread, then all others, in the order of acceptance.
select document from (
    select seq, document from messages where id = ?1 and thread = ?1
    union all
    select seq, document from messages where thread = ?1 and thread <> id
) order by seq

-- name: newest
-- The newest messages that fit, whatever their scope and subject; walks back from the end.
select document from messages
where (?1 is null or kind = ?1) and (?2 is null or sender = ?2) and (?3 is null or created_at >= ?3)
order by seq desc limit ?4

-- name: newest_in_scope
-- The same in one scope.
select document from messages
where scope = ?5 and (?6 is null or subject = ?6)
    and (?1 is null or kind = ?1) and (?2 is null or sender = ?2) and (?3 is null or created_at >= ?3)
order by seq desc limit ?4

-- name: newest_on_subject
-- The same on one subject, in any scope.
select document from messages
where subject = ?5
    and (?1 is null or kind = ?1) and (?2 is null or sender = ?2) and (?3 is null or created_at >= ?3)
order by seq desc limit ?4

-- name: is_swept
-- Whether one message is marked.
select swept from messages where id = ?

-- name: sweep
-- Mark the messages of a scope.
update messages set swept = 1 where scope = ? and swept = 0 returning seq

-- name: sweep_one
-- Mark one message.
update messages set swept = 1 where id = ?

-- name: after
-- What the search index has not taken in yet.
select seq, document from messages where seq > ? order by seq limit ?

-- name: at
-- Which message has this place in the order of acceptance.
select id from messages where seq = ?

-- name: between
-- The places in a stretch at which there is a message.
select seq from messages where seq > ? and seq <= ?

-- name: behind
-- How many messages the search index has not taken in yet.
select count(*) from messages where seq > ?

-- name: newest_seq
-- The place of the newest message.
select coalesce(max(seq), 0) from messages
