-- The tables of a space. Instants are texts of one fixed form that sorts, enums are their words, flags are 0 and 1.
-- Partial indexes hold only pending rows, so that the cost of a read does not grow with the finished ones.

create table agents (
    name text primary key,
    card text not null, -- JSON
    registered_at text not null,
    status text,
    numbered integer not null default 0 -- the last message number of this agent
) strict, without rowid;

create table sessions (
    id text not null unique,
    key text not null,
    agent text not null,
    kind text not null,
    holder_lock text,
    holder_pid integer,
    holder_started text,
    secret_hash text not null,
    joined_at text not null,
    seen_at text not null,
    lease_us integer not null, -- microseconds
    activity text not null,
    label text,
    capacity integer not null,
    overflow text not null,
    ended_at text,
    end_reason text
) strict;
create index sessions_by_agent on sessions (agent, joined_at) where ended_at is null;
create index sessions_by_key on sessions (key, joined_at) where ended_at is null;
create index sessions_by_label on sessions (label, joined_at) where ended_at is null and label is not null;

create table tokens (
    hash text not null unique,
    agent text not null,
    created_at text not null,
    revoked_at text,
    note text not null
) strict;

create table settings (name text primary key, value text not null) strict, without rowid;

create table messages (
    seq integer primary key, -- the order of acceptance
    id text not null unique,
    thread text not null,
    scope text,
    subject text,
    kind text not null,
    sender text not null,
    created_at text not null,
    swept integer not null default 0,
    document text not null -- the message on the wire
) strict;
-- The first message of a thread is found by its id.
create index messages_by_thread on messages (thread) where thread <> id;
create index messages_by_scope on messages (scope) where scope is not null;
create index messages_by_subject on messages (subject) where subject is not null;

create table deliveries (
    seq integer primary key, -- the order in the inbox; assigned again at each placement
    message_id text not null,
    copy integer not null, -- the delivery's id is <message_id>.<copy>
    inbox text not null,
    agent text,
    state text not null,
    kind text not null,
    sender text not null,
    expects_reply integer not null,
    number integer not null,
    scope text,
    subject text,
    updated_at text not null,
    expires_at text,
    offer text,
    lease_until text,
    grade text,
    reason text,
    archived_at text,
    unique (message_id, copy)
) strict;
create index deliveries_waiting on deliveries (inbox, seq) where state in ('queued', 'offered', 'in_context');
create index deliveries_unsettled on deliveries (scope, seq)
    where scope is not null and state in ('queued', 'offered', 'in_context');
create index deliveries_leased on deliveries (lease_until) where lease_until is not null and state = 'offered';
create index deliveries_expiring on deliveries (expires_at) where expires_at is not null and state = 'queued';
create index deliveries_alike on deliveries (inbox, sender, scope, subject, seq)
    where subject is not null and scope is not null and state = 'queued' and kind in ('notify', 'update');

-- The number of queued deliveries of each inbox; an inbox without any has no row. Not kept by triggers: a statement that
-- fires a trigger makes SQLite copy every page that it touches, which would double the cost of placing a delivery.
create table inboxes (inbox text primary key, queued integer not null) strict, without rowid;

create table offers (
    id text not null unique,
    session text not null,
    turn text not null,
    deliveries text not null, -- JSON
    offered_at text not null,
    lease_until text not null,
    presentation text not null,
    ended_at text,
    end_reason text,
    lease_us integer not null -- microseconds
) strict;
create index offers_live on offers (session, offered_at) where ended_at is null;

create table tickets (
    message_id text not null,
    debtor text not null, -- the ticket's id is <message_id>@<debtor>
    thread text not null,
    asker text not null,
    asker_session text,
    state text not null,
    scope text,
    subject text,
    opened_at text not null,
    due_at text,
    answer text,
    trouble text,
    awaits text,
    closed_at text,
    close_reason text,
    unique (message_id, debtor)
) strict;
create index tickets_owed_in on tickets (scope, opened_at) where state <> 'closed' and scope is not null;
create index tickets_owed_by on tickets (debtor, opened_at) where state <> 'closed';
create index tickets_owed_to on tickets (asker, opened_at) where state <> 'closed';
create index tickets_awaiting on tickets (awaits, opened_at) where state <> 'closed' and awaits is not null;

create table journal (
    position integer primary key,
    at text not null,
    action text not null,
    actor text not null,
    actor_session text,
    actor_grade text not null,
    message_id text,
    agent text,
    scope text,
    details text not null -- JSON
) strict;
create index journal_by_message on journal (message_id) where message_id is not null;
