-- name: get
-- One post by the id of its delivery.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts where id = ?

-- name: put
-- Add a post or replace it.
insert into posts (id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update
set channel = excluded.channel, conversation = excluded.conversation, message_id = excluded.message_id,
    state = excluded.state, created_at = excluded.created_at, since = excluded.since, next_at = excluded.next_at,
    attempts = excluded.attempts, holder = excluded.holder, error = excluded.error

-- name: due
-- The posts that are due at a time, earliest first.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts indexed by posts_due where channel = ? and state = 'pending' and next_at is not null and next_at <= ?
order by next_at, seq limit ?

-- name: held
-- The pending posts that a process has claimed.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts indexed by posts_held where channel = ? and state = 'pending' and holder is not null order by seq

-- name: head
-- The first pending post of a conversation.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts indexed by posts_first where channel = ? and conversation = ? and state = 'pending' order by seq limit 1

-- name: find
-- The newest posts in a state, newest first.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts where channel = ? and state = ? order by seq desc limit ?
