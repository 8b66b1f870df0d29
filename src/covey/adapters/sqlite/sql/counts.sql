-- name: numbered
-- The last message number of an agent.
select numbered from agents where name = ?

-- name: number
-- Store the last message number. Without `returning`, which works by a trigger and doubles the cost.
update agents set numbered = ? where name = ?

-- name: queued
-- The number of queued deliveries of an inbox.
select queued from inboxes where inbox = ?

-- name: queue
-- Store the number of queued deliveries of an inbox.
insert into inboxes (inbox, queued) values (?, ?) on conflict (inbox) do update set queued = excluded.queued

-- name: queue_none
-- Remove the count of an inbox without queued deliveries.
delete from inboxes where inbox = ?
