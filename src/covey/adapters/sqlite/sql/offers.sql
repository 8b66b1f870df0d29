-- name: get
-- One offer by id, ended or not.
select id, session, turn, deliveries, offered_at, lease_until, presentation, ended_at, end_reason, lease_us, extents
from offers where id = ?

-- name: put
-- Add an offer or replace it.
insert into offers (id, session, turn, deliveries, offered_at, lease_until, presentation, ended_at, end_reason, lease_us,
    extents)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update
set session = excluded.session, turn = excluded.turn, deliveries = excluded.deliveries,
    offered_at = excluded.offered_at, lease_until = excluded.lease_until, presentation = excluded.presentation,
    ended_at = excluded.ended_at, end_reason = excluded.end_reason, lease_us = excluded.lease_us,
    extents = excluded.extents

-- name: live_of
-- A session's offers that have not ended, oldest first.
select id, session, turn, deliveries, offered_at, lease_until, presentation, ended_at, end_reason, lease_us, extents
from offers where session = ? and ended_at is null order by offered_at, rowid
