-- name: at
-- One delivery by its place.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where seq = ?

-- name: get
-- One delivery by the two halves of its id.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where message_id = ? and copy = ?

-- name: where
-- In which inbox a delivery is now, and in which state.
select inbox, state from deliveries where message_id = ? and copy = ?

-- name: add
-- Place a new delivery.
insert into deliveries (checksum, seq, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen, message_id, copy)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: move
-- Place a known delivery in an inbox anew, at its end.
update deliveries
set checksum = ?, seq = ?, inbox = ?, agent = ?, state = ?, kind = ?, sender = ?, expects_reply = ?, number = ?,
    scope = ?, subject = ?, updated_at = ?, expires_at = ?, offer = ?, lease_until = ?, grade = ?, reason = ?, archived_at = ?,
    seen = ?
where message_id = ? and copy = ?

-- name: put
-- Replace what is known of a delivery; it stays where it is in its inbox.
update deliveries
set checksum = ?, agent = ?, state = ?, kind = ?, sender = ?, expects_reply = ?, number = ?, scope = ?, subject = ?,
    updated_at = ?, expires_at = ?, offer = ?, lease_until = ?, grade = ?, reason = ?, archived_at = ?,
    seen = ?
where message_id = ? and copy = ?

-- name: of_message
-- All deliveries of a message.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where message_id = ? order by copy

-- name: unsettled_in
-- What a scope's inboxes still hold.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where scope = ? and (state = 'queued' or state = 'offered' or state = 'in_context') order by seq

-- name: handled
-- What was handled and has a number for an agent.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where agent = ? and number = ? and state = 'handled' order by copy

-- name: lapsed_leases
-- Offered, and the lease has ended.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where state = 'offered' and lease_until <= ? order by lease_until, seq limit ?

-- name: lapsed_dates
-- Queued, and no longer worth showing.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where state = 'queued' and expires_at <= ? order by expires_at, seq limit ?

-- name: waiting
-- What an inbox holds in up to three states, by seq.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries
where inbox = ? and (state = 'queued' or state = 'offered' or state = 'in_context') and seq > ? and state in (?, ?, ?)
order by seq limit ?

-- name: oldest
-- The oldest queued delivery of up to five kinds.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries
where inbox = ? and (state = 'queued' or state = 'offered' or state = 'in_context') and state = 'queued'
    and kind in (?, ?, ?, ?, ?)
order by seq limit 1

-- name: alike
-- The queued notifies and updates of one sender on one subject.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries
where inbox = ? and sender = ? and scope = ? and subject = ? and state = 'queued' and kind in ('notify', 'update')
order by seq

-- name: occupied
-- The inboxes in which something waits: from one to the next in their index, over all that waits in each.
with recursive found (inbox) as (
    select min(inbox) from deliveries where (state = 'queued' or state = 'offered' or state = 'in_context')
    union all
    select (
        select min(inbox) from deliveries
        where (state = 'queued' or state = 'offered' or state = 'in_context') and inbox > found.inbox
    ) from found where found.inbox is not null
)
select inbox from found where inbox is not null
