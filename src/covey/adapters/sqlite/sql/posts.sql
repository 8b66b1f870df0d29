-- name: get
-- One post by the id of its delivery.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts where id = ?

-- name: put
-- Add a post or replace what is known of it.
insert into posts (id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update
set channel = excluded.channel, conversation = excluded.conversation, message_id = excluded.message_id,
    state = excluded.state, created_at = excluded.created_at, since = excluded.since, next_at = excluded.next_at,
    attempts = excluded.attempts, holder = excluded.holder, error = excluded.error

-- name: due
-- What may be tried by a time, soonest first.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts indexed by posts_due where channel = ? and state = 'pending' and next_at is not null and next_at <= ?
order by next_at, seq limit ?

-- name: held
-- What somebody carries just now.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts indexed by posts_held where channel = ? and state = 'pending' and holder is not null order by seq

-- name: head
-- The first of a conversation that is not done with.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts indexed by posts_first where channel = ? and conversation = ? and state = 'pending' order by seq limit 1

-- name: find
-- The newest ones in a state, newest first.
select id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts where channel = ? and state = ? order by seq desc limit ?
