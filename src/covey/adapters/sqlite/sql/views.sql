-- name: totals
-- The number of records of each kind.
select (select count(*) from agents), (select count(*) from settings), (select count(*) from tokens),
    (select count(*) from journal), (select count(*) from sessions), (select count(*) from offers),
    (select count(*) from pruned), (select count(*) from messages), (select count(*) from tickets),
    (select count(*) from deliveries), (select count(*) from tasks), (select count(*) from bindings),
    (select count(*) from posts), (select count(*) from runs)

-- name: numbers
-- The last message number of each agent.
select name, numbered from agents

-- name: settings
-- Every setting, by name.
select name, value from settings order by name

-- name: sessions
-- Sessions in the order in which they were added.
select rowid, id, key, agent, kind, holder_lock, holder_pid, holder_started, secret_hash, joined_at, seen_at, lease_us,
    activity, label, capacity, overflow, ended_at, end_reason, hooked_at, status
from sessions where rowid > ? order by rowid limit ?

-- name: offers
-- Offers in the order in which they were added.
select rowid, id, session, turn, deliveries, offered_at, lease_until, presentation, ended_at, end_reason, lease_us,
    extents
from offers where rowid > ? order by rowid limit ?

-- name: pruned
-- The ids of pruned messages, in their order.
select id from pruned where id > ? order by id limit ?

-- name: messages
-- Messages in the order of acceptance.
select seq, swept, id, cast(document as blob), checksum from messages where seq > ? order by seq limit ?

-- name: tickets
-- Tickets in the order in which they were added.
select rowid, message_id, debtor, thread, asker, asker_session, state, scope, subject, opened_at, due_at, answer, trouble,
    awaits, closed_at, close_reason
from tickets where rowid > ? order by rowid limit ?

-- name: deliveries
-- Deliveries by seq.
select checksum, seq, message_id, copy, inbox, agent, state, kind, sender, expects_reply, number, scope, subject,
    updated_at, expires_at, offer, lease_until, grade, reason, archived_at, seen
from deliveries where seq > ? order by seq limit ?

-- name: tasks
-- Tasks in the order in which they were added.
select seq, id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where seq > ? order by seq limit ?

-- name: posts
-- Posts in the order in which they were added.
select seq, id, channel, conversation, message_id, state, created_at, since, next_at, attempts, holder, error
from posts where seq > ? order by seq limit ?

-- name: runs
-- Runs in the order in which they were added.
select seq, id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where seq > ? order by seq limit ?
