-- name: scopes
-- The scopes that have messages, from one to the next in their index.
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
-- The older messages without a scope and their threads; walks over those that have one.
select seq, thread from messages where scope is null and seq > ? and created_at < ? order by seq limit ?

-- name: thread
-- How many messages a thread has, and when the last was made.
select count(*), max(created_at) from (
    select created_at from messages where id = ?1 and thread = ?1
    union all
    select created_at from messages where thread = ?1 and thread <> id
)

-- name: thread_scopes
-- What the messages of a thread are about.
select scope from messages where id = ?1 and thread = ?1 and scope is not null
union
select scope from messages where thread = ?1 and thread <> id and scope is not null

-- name: thread_deliveries
-- How many deliveries of a thread still wait or are to be posted, and when the last of all was touched.
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
-- How many tickets of a thread are not closed, and when the last of all was touched.
select coalesce(sum(state <> 'closed'), 0), max(max(opened_at, coalesce(closed_at, '')))
from (
    select id from messages where id = ?1 and thread = ?1
    union all
    select id from messages where thread = ?1 and thread <> id
) as member join tickets on tickets.message_id = member.id

-- name: thread_tasks
-- The tasks of a thread: what they are a part of, whether they are not finished, and when they were last touched.
select tasks.id, tasks.parent, tasks.finished_at is null, tasks.updated_at
from (
    select id from messages where id = ?1 and thread = ?1
    union all
    select id from messages where thread = ?1 and thread <> id
) as member join tasks on tasks.id = member.id

-- name: thread_runs
-- How many runs a thread has, how many are not done with, and when the last of all began or ended.
select count(*), coalesce(sum(ended_at is null or is_told = 0 or folder is not null), 0), max(coalesce(ended_at, started_at))
from (
    select id from messages where id = ?1 and thread = ?1
    union all
    select id from messages where thread = ?1 and thread <> id
) as member join runs on runs.request = member.id

-- name: whole
-- What a task is a part of, and whether that is not finished.
select parent, finished_at is null from tasks where id = ?

-- name: parts
-- The parts of a task, and whether they are not finished.
select id, finished_at is null from tasks where parent = ?

-- name: newest
-- The newest messages of a thread, newest first.
select id from (
    select seq, id from messages where id = ?1 and thread = ?1
    union all
    select seq, id from messages where thread = ?1 and thread <> id
) order by seq desc limit ?2

-- name: unasked
-- The runs that are done with and whose first prompt is nowhere.
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
-- How many were pruned.
select count(*) from pruned

-- name: is_open
-- Whether something of a message is open.
select exists (
    select 1 from deliveries where message_id = ?1 and state in ('queued', 'offered', 'in_context')
) or exists (select 1 from tickets where message_id = ?1 and state <> 'closed')
    or exists (select 1 from tasks where id = ?1 and finished_at is null)
    or exists (select 1 from posts where id > ?1 || '.' and id < ?1 || '/' and state = 'pending')
    or exists (select 1 from runs where request = ?1 and (ended_at is null or is_told = 0 or folder is not null))

-- name: remember
-- Keep the id of a message that goes.
insert into pruned (id) values (?)

-- name: remove_message
-- One message.
delete from messages where id = ?

-- name: remove_deliveries
-- Its deliveries.
delete from deliveries where message_id = ?

-- name: remove_pairs
-- The dialogue that begins with it.
delete from pairs where message_id = ?

-- name: remove_tickets
-- Its tickets.
delete from tickets where message_id = ?

-- name: remove_task
-- Its task.
delete from tasks where id = ?

-- name: remove_runs
-- The runs that it began.
delete from runs where request = ?

-- name: unasked_request
-- The message that would have begun a run that is done with, where there is none.
select request from runs
where id = ? and ended_at is not null and is_told = 1 and folder is null
    and not exists (select 1 from messages where id = runs.request)

-- name: remove_posts
-- The posts of its deliveries, by whose ids they are found. The id of a message is all that stands before the last dot.
delete from posts where id > ?1 || '.' and id < ?1 || '/'

-- name: remove_events
-- The events that name it.
delete from journal where message_id = ?

-- name: removed
-- How many rows the last statement removed.
select changes()

-- name: next_events
-- How many events follow a position, up to a limit, and the position of the last of them.
select count(*), max(position) from (select position from journal where position > ? order by position limit ?)

-- name: remove_offers
-- The offers that were made in a stretch of the journal, have ended, and show nothing that is left. The id of a message
-- is the first 50 characters of a delivery's.
delete from offers
where id in (
    select details ->> 'offer' from journal where position > ?1 and position <= ?2 and action = 'offer.made'
) and ended_at is not null and not exists (
    select 1 from json_each(offers.deliveries) as shown join messages on messages.id = substr(shown.value, 1, 50)
)

-- name: remove_offer_events
-- The events in a stretch of the journal that name an offer that is gone.
delete from journal
where position > ?1 and position <= ?2 and action in ('offer.made', 'offer.renewed', 'offer.ended', 'evidence')
    and details ->> 'offer' is not null and not exists (select 1 from offers where id = details ->> 'offer')
