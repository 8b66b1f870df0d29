-- name: get
-- One token by its hash.
select hash, agent, created_at, revoked_at, note, used_at from tokens where hash = ?

-- name: put
-- Add a token or replace it.
insert into tokens (hash, agent, created_at, revoked_at, note, used_at) values (?, ?, ?, ?, ?, ?)
on conflict (hash) do update
set agent = excluded.agent, created_at = excluded.created_at, revoked_at = excluded.revoked_at, note = excluded.note,
    used_at = excluded.used_at

-- name: all
-- Every token, oldest first.
select hash, agent, created_at, revoked_at, note, used_at from tokens order by created_at, rowid
