-- name: put
-- Add a wait or replace it.
insert into waits (asker, what, session, since, until) values (?, ?, ?, ?, ?)
on conflict (asker, what) do update set session = excluded.session, since = excluded.since, until = excluded.until

-- name: remove
-- Forget a wait.
delete from waits where asker = ? and what = ?

-- name: of
-- The waits of an agent.
select asker, what, session, since, until from waits where asker = ? order by what

-- name: all
-- Every wait.
select asker, what, session, since, until from waits order by asker, what
