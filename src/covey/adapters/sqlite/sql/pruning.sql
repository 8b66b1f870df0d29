-- name: scopes
-- The scopes that have messages. Skips through the index, so the messages of a scope are not scanned.
with recursive found (scope) as (
    select (select min(scope) from messages where scope > ?1)
    union all
    select (select min(scope) from messages where scope > found.scope) from found where found.scope is not null
)
select scope from found where scope is not null limit ?2

-- name: in_scope
-- The older messages of a scope and their threads.
select seq, thread from messages where scope = ? and seq > ? and created_at < ? order by seq limit ?

-- name: without_scope
-- The older messages without a scope and their threads; scans messages that have one.
select seq, thread from messages where scope is null and seq > ? and created_at < ? order by seq limit ?

-- name: thread
-- The number of messages of a thread, and the time of the last one.
select count(*), max(created_at) from (
    select created_at from messages where id = ?1 and thread = ?1
    union all
    select created_at from messages where thread = ?1 and thread <> id
)

-- name: thread_scopes
-- The scopes of a thread.
select scope from messages where id = ?1 and thread = ?1 and scope is not null
union
select scope from messages where thread = ?1 and thread <> id and scope is not null

-- name: thread_deliveries
-- The number of deliveries of a thread that are unsettled or have a pending post, and the last change of any.
select
    coalesce(sum(
        state in ('queued', 'offered', 'in_context') or exists (
            select 1 from posts where posts.id = deliveries.message_id || '.' || deliveries.copy and posts.state = 'pending'
        )
    ), 0),
    max(max(updated_at, coalesce(archived_at, '')))
from (
    select id from messages where id = ?1 and thread = ?1
    union all
    select id from messages where thread = ?1 and thread <> id
) as member join deliveries on deliveries.message_id = member.id

-- name: thread_tickets
-- The number of tickets of a thread that are not closed, and the last change of any.
select coalesce(sum(state <> 'closed'), 0), max(max(opened_at, coalesce(closed_at, '')))
from (
    select id from messages where id = ?1 and thread = ?1
    union all
    select id from messages where thread = ?1 and thread <> id
) as member join tickets on tickets.message_id = member.id

-- name: thread_tasks
-- The tasks of a thread: their parents, whether they are unfinished, and their last changes.
select tasks.id, tasks.parent, tasks.finished_at is null, tasks.updated_at
from (
    select id from messages where id = ?1 and thread = ?1
    union all
    select id from messages where thread = ?1 and thread <> id
) as member join tasks on tasks.id = member.id

-- name: thread_runs
-- The number of runs of a thread, how many of them still need work, and the last start or end of any.
select count(*), coalesce(sum(ended_at is null or is_told = 0 or folder is not null), 0), max(coalesce(ended_at, started_at))
from (
    select id from messages where id = ?1 and thread = ?1
    union all
    select id from messages where thread = ?1 and thread <> id
) as member join runs on runs.request = member.id

-- name: whole
-- The parent of a task, and whether the task is unfinished.
select parent, finished_at is null from tasks where id = ?

-- name: parts
-- The parts of a task, and whether they are unfinished.
select id, finished_at is null from tasks where parent = ?

-- name: newest
-- The newest messages of a thread, newest first.
select id from (
    select seq, id from messages where id = ?1 and thread = ?1
    union all
    select seq, id from messages where thread = ?1 and thread <> id
) order by seq desc limit ?2

-- name: unasked
-- The runs without a request that have ended, were reported, and have no folder.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs
where ended_at < ? and is_told = 1 and folder is null and not exists (select 1 from messages where id = runs.request)
order by seq limit ?

-- name: with_files
-- The messages that may have file parts.
select seq, id, cast(document as blob), checksum from messages where has_files = 1 and seq > ? order by seq limit ?

-- name: has
-- Whether a message was pruned.
select 1 from pruned where id = ?

-- name: count
-- The number of pruned messages.
select count(*) from pruned

-- name: is_open
-- Whether a message has an open delivery, ticket, task, post or run.
select exists (
    select 1 from deliveries where message_id = ?1 and state in ('queued', 'offered', 'in_context')
) or exists (select 1 from tickets where message_id = ?1 and state <> 'closed')
    or exists (select 1 from tasks where id = ?1 and finished_at is null)
    or exists (select 1 from posts where id > ?1 || '.' and id < ?1 || '/' and state = 'pending')
    or exists (select 1 from runs where request = ?1 and (ended_at is null or is_told = 0 or folder is not null))

-- name: remember
-- Store the id of a pruned message.
insert into pruned (id) values (?)

-- name: remove_message
-- Remove one message.
delete from messages where id = ?

-- name: remove_deliveries
-- Remove the deliveries of a message.
delete from deliveries where message_id = ?

-- name: remove_pairs
-- Remove the index entry of a dialogue that begins with a message.
delete from pairs where message_id = ?

-- name: remove_tickets
-- Remove the tickets of a message.
delete from tickets where message_id = ?

-- name: remove_task
-- Remove the task of a message.
delete from tasks where id = ?

-- name: remove_runs
-- Remove the runs that a message started.
delete from runs where request = ?

-- name: unasked_request
-- The request of a run that has ended, was reported, and has no folder, if the request does not exist.
select request from runs
where id = ? and ended_at is not null and is_told = 1 and folder is null
    and not exists (select 1 from messages where id = runs.request)

-- name: remove_posts
-- Remove the posts of a message's deliveries. Their ids begin with the message's id and a dot.
delete from posts where id > ?1 || '.' and id < ?1 || '/'

-- name: remove_events
-- Remove the events of a message.
delete from journal where message_id = ?

-- name: removed
-- The number of rows that the last statement removed.
select changes()

-- name: next_events
-- The number of events after a position, up to a limit, and the position of the last of them.
select count(*), max(position) from (select position from journal where position > ? order by position limit ?)

-- name: remove_offers
-- Remove offers that were made in a range of the journal, have ended, and have no remaining message. The first 50
-- characters of a delivery's id are the id of its message.
delete from offers
where id in (
    select details ->> 'offer' from journal where position > ?1 and position <= ?2 and action = 'offer.made'
) and ended_at is not null and not exists (
    select 1 from json_each(offers.deliveries) as shown join messages on messages.id = substr(shown.value, 1, 50)
)

-- name: remove_offer_events
-- Remove the events in a range of the journal that name a removed offer.
delete from journal
where position > ?1 and position <= ?2 and action in ('offer.made', 'offer.renewed', 'offer.ended', 'evidence')
    and details ->> 'offer' is not null and not exists (select 1 from offers where id = details ->> 'offer')
