-- name: get
-- One agent by name.
select name, card, registered_at, status from agents where name = ?

-- name: put
-- Add an agent or replace its card; its message numbers are kept.
insert into agents (name, card, registered_at, status) values (?, ?, ?, ?)
on conflict (name) do update
set card = excluded.card, registered_at = excluded.registered_at, status = excluded.status

-- name: all
-- Every agent, by name.
select name, card, registered_at, status from agents order by name
