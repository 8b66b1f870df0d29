-- name: get
-- One run by its id.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where id = ?

-- name: put
-- Add a run or replace it.
insert into runs (id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update
set session = excluded.session, key = excluded.key, agent = excluded.agent,
    parent_agent = excluded.parent_agent, request = excluded.request, mode = excluded.mode,
    launcher = excluded.launcher, state = excluded.state, started_at = excluded.started_at,
    parent = excluded.parent, sibling_of = excluded.sibling_of, label = excluded.label,
    description = excluded.description, time_limit = excluded.time_limit,
    thread_channel = excluded.thread_channel, thread_conversation = excluded.thread_conversation,
    folder = excluded.folder, stage = excluded.stage, stop_reason = excluded.stop_reason,
    reason = excluded.reason, ended_at = excluded.ended_at, is_told = excluded.is_told

-- name: of_session
-- The run of a session.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where session = ?

-- name: children
-- The runs that a session spawned.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where parent = ? order by seq

-- name: alive
-- The number of children of an agent that have not ended.
select count(*) from runs indexed by runs_alive where parent_agent = ? and ended_at is null

-- name: untold
-- The ended runs whose parents were not notified.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where ended_at is not null and is_told = 0 order by seq limit ?

-- name: uncleared
-- The ended runs whose folders still exist.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where ended_at is not null and folder is not null order by seq limit ?

-- name: newest
-- All runs, newest first.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs order by seq desc

-- name: newest_open
-- The runs that have not ended, newest first.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where ended_at is null order by seq desc

-- name: newest_of_agent
-- The runs of an agent, newest first.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where agent = ? order by seq desc

-- name: newest_of_parent_agent
-- The runs of an agent's children, newest first.
select id, session, key, agent, parent_agent, request, mode, launcher, state, started_at, parent, sibling_of, label,
    description, time_limit, thread_channel, thread_conversation, folder, stage, stop_reason, reason, ended_at, is_told
from runs where parent_agent = ? order by seq desc
