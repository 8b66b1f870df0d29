-- name: get
-- One session by id, ended or not.
select id, key, agent, kind, holder_lock, holder_pid, holder_started, secret_hash, joined_at, seen_at, lease_us, activity,
    label, capacity, overflow, ended_at, end_reason, hooked_at, status
from sessions where id = ?

-- name: put
-- Add a session or replace it.
insert into sessions (id, key, agent, kind, holder_lock, holder_pid, holder_started, secret_hash, joined_at, seen_at,
    lease_us, activity, label, capacity, overflow, ended_at, end_reason, hooked_at, status)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update
set key = excluded.key, agent = excluded.agent, kind = excluded.kind, holder_lock = excluded.holder_lock,
    holder_pid = excluded.holder_pid, holder_started = excluded.holder_started, secret_hash = excluded.secret_hash,
    joined_at = excluded.joined_at, seen_at = excluded.seen_at, lease_us = excluded.lease_us,
    activity = excluded.activity, label = excluded.label, capacity = excluded.capacity, overflow = excluded.overflow,
    ended_at = excluded.ended_at, end_reason = excluded.end_reason, hooked_at = excluded.hooked_at,
    status = excluded.status

-- name: of_agent
-- An agent's sessions that have not ended, oldest first.
select id, key, agent, kind, holder_lock, holder_pid, holder_started, secret_hash, joined_at, seen_at, lease_us, activity,
    label, capacity, overflow, ended_at, end_reason, hooked_at, status
from sessions where agent = ? and ended_at is null order by joined_at, rowid

-- name: with_key
-- The sessions with a key that have not ended, oldest first.
select id, key, agent, kind, holder_lock, holder_pid, holder_started, secret_hash, joined_at, seen_at, lease_us, activity,
    label, capacity, overflow, ended_at, end_reason, hooked_at, status
from sessions where key = ? and ended_at is null order by joined_at, rowid

-- name: with_label
-- The sessions with a label that have not ended, oldest first.
select id, key, agent, kind, holder_lock, holder_pid, holder_started, secret_hash, joined_at, seen_at, lease_us, activity,
    label, capacity, overflow, ended_at, end_reason, hooked_at, status
from sessions where label = ? and ended_at is null order by joined_at, rowid

-- name: current
-- All sessions that have not ended, oldest first; scans one of their indexes, then sorts.
select id, key, agent, kind, holder_lock, holder_pid, holder_started, secret_hash, joined_at, seen_at, lease_us, activity,
    label, capacity, overflow, ended_at, end_reason, hooked_at, status
from sessions indexed by sessions_by_agent where ended_at is null order by joined_at, rowid
