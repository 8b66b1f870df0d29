-- name: put
-- Add a wait or replace it.
insert into waits (asker, what, session, since, until, blocks, takes_questions) values (?, ?, ?, ?, ?, ?, ?)
on conflict (asker, what) do update
set session = excluded.session, since = excluded.since, until = excluded.until, blocks = excluded.blocks,
    takes_questions = excluded.takes_questions

-- name: remove
-- Remove a wait.
delete from waits where asker = ? and what = ?

-- name: of
-- The waits of an agent.
select asker, what, session, since, until, blocks, takes_questions from waits where asker = ? order by what

-- name: all
-- Every wait.
select asker, what, session, since, until, blocks, takes_questions from waits order by asker, what
