-- name: get
-- One agent by name.
select name, card, registered_at, status from agents where name = ?

-- name: put
-- Add an agent or replace its card; its numbers go on counting.
insert into agents (name, card, registered_at, status) values (?, ?, ?, ?)
on conflict (name) do update
set card = excluded.card, registered_at = excluded.registered_at, status = excluded.status

-- name: all
-- Every agent, by name.
select name, card, registered_at, status from agents order by name

-- name: numbered
-- The last number that was given for an agent.
select numbered from agents where name = ?

-- name: number
-- Note the last number. Without `returning`, which works by a trigger and costs as much again.
update agents set numbered = ? where name = ?
