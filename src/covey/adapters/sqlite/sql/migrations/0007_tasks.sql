-- Tasks. The partial indexes hold only unfinished tasks, so that finished ones cost nothing.
create table tasks (
    seq integer primary key, -- the order of delegation
    id text not null unique, -- the id of the message that handed it over
    delegator text not null,
    agent text not null,
    state text not null,
    created_at text not null,
    updated_at text not null,
    delegator_session text,
    parent text,
    scope text,
    deadline text,
    claimed_by text,
    attempt integer not null,
    abandoned_at text,
    is_told integer not null,
    reason text,
    progress text,
    result text,
    finished_at text
) strict;
create index tasks_pending on tasks (agent, seq) where state = 'pending' and claimed_by is null;
create index tasks_held on tasks (agent, seq)
    where state in ('accepted', 'working') or (state = 'pending' and claimed_by is not null);
create index tasks_left on tasks (agent, seq) where abandoned_at is not null;
create index tasks_of_session on tasks (claimed_by, seq) where claimed_by is not null;
create index tasks_due on tasks (deadline, seq) where finished_at is null and deadline is not null;
create index tasks_untold on tasks (seq) where abandoned_at is not null and is_told = 0;
create index tasks_by_parent on tasks (parent, seq) where parent is not null;
create index tasks_by_agent on tasks (agent, seq);
create index tasks_by_delegator on tasks (delegator, seq);
create index tasks_open on tasks (seq) where finished_at is null;

-- Tasks that were delegated before this table existed, and still wait.
insert into tasks (id, delegator, agent, state, created_at, updated_at, delegator_session, scope, deadline, claimed_by,
    attempt, is_told)
select messages.id, messages.sender, deliveries.agent, 'pending', messages.created_at, deliveries.updated_at,
    json_extract(messages.document, '$.from.session'), messages.scope, json_extract(messages.document, '$.deadline'),
    iif(deliveries.inbox like 'session:%', substr(deliveries.inbox, 9), null),
    iif(deliveries.inbox like 'session:%', 1, 0), 0
from messages join deliveries on deliveries.message_id = messages.id
where messages.kind = 'task' and deliveries.agent is not null and deliveries.state in ('queued', 'offered', 'in_context')
order by messages.seq
on conflict (id) do nothing;
-- The journal records their claims, so that the records can be derived from it.
insert into journal (at, action, actor, actor_grade, message_id, agent, scope, details)
select updated_at, 'task.claimed', 'covey', 'space', id, agent, scope,
    json_object('session', claimed_by, 'attempt', attempt)
from tasks where claimed_by is not null order by seq;
