-- name: get
-- One token by its hash.
select hash, agent, created_at, revoked_at, note from tokens where hash = ?

-- name: put
-- Add a token or replace what is known of it.
insert into tokens (hash, agent, created_at, revoked_at, note) values (?, ?, ?, ?, ?)
on conflict (hash) do update
set agent = excluded.agent, created_at = excluded.created_at, revoked_at = excluded.revoked_at, note = excluded.note

-- name: all
-- Every token, oldest first.
select hash, agent, created_at, revoked_at, note from tokens order by created_at, rowid
