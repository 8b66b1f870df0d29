-- Runs of children. The partial indexes hold only runs that are alive, or whose parent is not notified, or whose folder
-- exists, so that all others cost nothing.
create table runs (
    seq integer primary key, -- the order of spawning
    id text not null unique,
    session text not null unique,
    key text not null,
    agent text not null,
    parent_agent text not null,
    request text not null, -- the id of the message with the first prompt
    mode text not null,
    launcher text not null,
    state text not null,
    started_at text not null,
    parent text,
    sibling_of text,
    label text,
    description text not null,
    time_limit real,
    thread_channel text,
    thread_conversation text,
    folder text,
    stage text not null,
    stop_reason text,
    reason text,
    ended_at text,
    is_told integer not null
) strict;
create index runs_alive on runs (parent_agent, parent) where ended_at is null;
create index runs_open on runs (seq) where ended_at is null;
create index runs_by_parent on runs (parent, seq) where parent is not null;
create index runs_untold on runs (seq) where ended_at is not null and is_told = 0;
create index runs_uncleared on runs (seq) where ended_at is not null and folder is not null;
create index runs_by_request on runs (request);
create index runs_by_agent on runs (agent, seq);
create index runs_by_parent_agent on runs (parent_agent, seq);
