-- Who writes to whom lately, by samples: circles of agents that keep each other going are found by it.
create table flows (
    source text not null, -- an agent, a session's inbox, or a task
    target text not null,
    at text not null, -- when the last sample was taken
    samples text not null, -- their places in the store's sequence, with spaces between
    initiative integer not null, -- the last sample that nobody waited for
    exchanged integer not null, -- samples that were part of a circle
    themes text not null, -- gists of questions, with spaces between
    primary key (source, target)
) strict, without rowid;
