-- name: numbered
-- The last number that was given for an agent.
select numbered from agents where name = ?

-- name: number
-- Note the last number. Without `returning`, which works by a trigger and costs as much again.
update agents set numbered = ? where name = ?

-- name: queued
-- How many are queued in an inbox.
select queued from inboxes where inbox = ?

-- name: queue
-- Note how many are queued in an inbox.
insert into inboxes (inbox, queued) values (?, ?) on conflict (inbox) do update set queued = excluded.queued

-- name: queue_none
-- The last one has left.
delete from inboxes where inbox = ?
