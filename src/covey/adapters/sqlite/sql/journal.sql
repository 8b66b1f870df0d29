-- name: append
-- Add an event.
insert into journal (position, at, action, actor, actor_session, actor_grade, message_id, agent, scope, details)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: read
-- Events after a position.
select position, at, action, actor, actor_session, actor_grade, message_id, agent, scope, details
from journal where position > ? order by position limit ?

-- name: read_matching
-- Events after a position that match an agent, a scope or an action; scans the others.
select position, at, action, actor, actor_session, actor_grade, message_id, agent, scope, details
from journal
where position > ?1 and (?3 is null or agent = ?3 or actor = ?3) and (?4 is null or scope = ?4)
    and (?5 is null or action = ?5)
order by position limit ?2

-- name: read_of_message
-- Events of one message after a position that match an agent, a scope or an action.
select position, at, action, actor, actor_session, actor_grade, message_id, agent, scope, details
from journal
where message_id = ?6 and position > ?1 and (?3 is null or agent = ?3 or actor = ?3) and (?4 is null or scope = ?4)
    and (?5 is null or action = ?5)
order by position limit ?2

-- name: last
-- The position of the newest event.
select coalesce(max(position), 0) from journal
