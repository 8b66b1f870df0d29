-- name: get
-- One task by its id.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where id = ?

-- name: put
-- Add a task or replace it.
insert into tasks (id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update
set delegator = excluded.delegator, agent = excluded.agent, state = excluded.state,
    created_at = excluded.created_at, updated_at = excluded.updated_at,
    delegator_session = excluded.delegator_session, parent = excluded.parent, scope = excluded.scope,
    deadline = excluded.deadline, claimed_by = excluded.claimed_by, attempt = excluded.attempt,
    abandoned_at = excluded.abandoned_at, is_told = excluded.is_told, reason = excluded.reason,
    progress = excluded.progress, result = excluded.result, finished_at = excluded.finished_at

-- name: pending
-- The tasks of an agent that wait for a session.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks indexed by tasks_pending where agent = ? and state = 'pending' and claimed_by is null order by seq limit ?

-- name: held
-- The tasks of an agent that count against its quota.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks indexed by tasks_held
where agent = ? and (state in ('accepted', 'working') or (state = 'pending' and claimed_by is not null))
order by seq

-- name: places
-- The number of tasks of an agent that count against its quota.
select count(*) from tasks indexed by tasks_held
where agent = ? and (state in ('accepted', 'working') or (state = 'pending' and claimed_by is not null))

-- name: left
-- The tasks of an agent that ended sessions left.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks indexed by tasks_left where agent = ? and abandoned_at is not null order by seq limit ?

-- name: all_held
-- The tasks of all agents that count against a quota.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where state in ('accepted', 'working') or (state = 'pending' and claimed_by is not null)
order by agent, seq

-- name: of_session
-- The tasks that a session has claimed.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where claimed_by = ? order by seq

-- name: due
-- The unfinished tasks whose deadline has passed.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where finished_at is null and deadline <= ? order by deadline, seq limit ?

-- name: untold
-- The abandoned tasks whose delegators were not notified.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where abandoned_at is not null and is_told = 0 order by seq limit ?

-- name: children
-- The parts of a task.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where parent = ? order by seq

-- name: newest
-- All tasks, newest first.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks order by seq desc

-- name: newest_open
-- The unfinished tasks, newest first.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where finished_at is null order by seq desc

-- name: newest_of_agent
-- The tasks of an agent, newest first.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where agent = ? order by seq desc

-- name: newest_of_delegator
-- The tasks of a delegator, newest first.
select id, delegator, agent, state, created_at, updated_at, delegator_session, parent, scope, deadline,
    claimed_by, attempt, abandoned_at, is_told, reason, progress, result, finished_at
from tasks where delegator = ? order by seq desc
