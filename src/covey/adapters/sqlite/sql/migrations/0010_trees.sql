-- The counts of causal trees, from the second message on; and the waits of agents.
create table trees (
    root text primary key,
    began_at text not null,
    updated_at text not null,
    messages integer not null,
    depth integer not null,
    children integer not null,
    base integer not null, -- the depth from which the count starts
    refused integer not null,
    stopped text, -- the limit that was reached
    stopped_at text,
    echoes integer not null, -- the number of stopped talks
    talks text not null -- JSON: the talks of pairs of agents
) strict, without rowid;
create index trees_stopped on trees (updated_at) where stopped is not null or echoes > 0;

create table waits (
    asker text not null,
    what text not null, -- a ticket, or a task
    session text,
    since text not null,
    until text not null,
    primary key (asker, what)
) strict, without rowid;
