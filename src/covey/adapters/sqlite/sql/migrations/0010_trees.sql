-- What causal trees have come to, once a message has led to another one; and who waits for whom.
create table trees (
    root text primary key,
    began_at text not null,
    updated_at text not null,
    messages integer not null,
    depth integer not null,
    children integer not null,
    base integer not null, -- the depth at which counting began anew
    refused integer not null,
    stopped text, -- the limit that it has come up against
    stopped_at text,
    echoes integer not null, -- how many talks are stopped
    talks text not null -- who talks with whom, as JSON
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
