-- name: at
-- One delivery by its seq.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where seq = ?

-- name: get
-- One delivery by the two halves of its id.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where message_id = ? and copy = ?

-- name: where
-- The inbox and the state of a delivery.
select inbox, state from deliveries where message_id = ? and copy = ?

-- name: add
-- Place a new delivery.
insert into deliveries (checksum, seq, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen, message_id, copy)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: move
-- Move a delivery to the end of an inbox.
update deliveries
set checksum = ?, seq = ?, inbox = ?, agent = ?, state = ?, kind = ?, sender = ?, expects_reply = ?, number = ?,
    scope = ?, subject = ?, updated_at = ?, expires_at = ?, offer = ?, lease_until = ?, grade = ?, reason = ?, archived_at = ?,
    seen = ?
where message_id = ? and copy = ?

-- name: put
-- Replace the fields of a delivery; it keeps its place in its inbox.
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
-- The unsettled deliveries of a scope.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where scope = ? and (state = 'queued' or state = 'offered' or state = 'in_context') order by seq

-- name: handled
-- The handled deliveries with a number of an agent.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where agent = ? and number = ? and state = 'handled' order by copy

-- name: lapsed_leases
-- Offered deliveries whose lease has ended.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where state = 'offered' and lease_until <= ? order by lease_until, seq limit ?

-- name: lapsed_dates
-- Queued deliveries that have expired.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where state = 'queued' and expires_at <= ? order by expires_at, seq limit ?

-- name: waiting
-- The unsettled deliveries of an inbox in up to three states, by seq.
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
-- The inboxes with unsettled deliveries. Skips through the index, so the deliveries of an inbox are not scanned.
with recursive found (inbox) as (
    select min(inbox) from deliveries where (state = 'queued' or state = 'offered' or state = 'in_context')
    union all
    select (
        select min(inbox) from deliveries
        where (state = 'queued' or state = 'offered' or state = 'in_context') and inbox > found.inbox
    ) from found where found.inbox is not null
)
select inbox from found where inbox is not null
