-- Samples of recent messages between agents, to detect circles of agents that keep each other busy.
create table flows (
    source text not null, -- an agent, a session's inbox, or a task
    target text not null,
    at text not null, -- the time of the last sample
    samples text not null, -- places in the store's sequence, separated by spaces
    initiative integer not null, -- the last sample that no other agent waited for
    exchanged integer not null, -- samples that were part of a circle
    themes text not null, -- gists of questions, separated by spaces
    primary key (source, target)
) strict, without rowid;
