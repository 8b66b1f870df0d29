-- name: get
-- One ticket by the two halves of its id.
select message_id, debtor, thread, asker, asker_session, state, scope, subject, opened_at, due_at, answer, trouble, awaits,
    closed_at, close_reason
from tickets where message_id = ? and debtor = ?

-- name: put
-- Add a ticket or replace it.
insert into tickets (message_id, debtor, thread, asker, asker_session, state, scope, subject, opened_at, due_at, answer,
    trouble, awaits, closed_at, close_reason)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (message_id, debtor) do update
set thread = excluded.thread, asker = excluded.asker, asker_session = excluded.asker_session, state = excluded.state,
    scope = excluded.scope, subject = excluded.subject, opened_at = excluded.opened_at, due_at = excluded.due_at,
    answer = excluded.answer, trouble = excluded.trouble, awaits = excluded.awaits, closed_at = excluded.closed_at,
    close_reason = excluded.close_reason

-- name: of_message
-- The tickets of a message, closed or not.
select message_id, debtor, thread, asker, asker_session, state, scope, subject, opened_at, due_at, answer, trouble, awaits,
    closed_at, close_reason
from tickets where message_id = ? order by debtor

-- name: owed_in
-- The tickets of a scope that are not closed, oldest first.
select message_id, debtor, thread, asker, asker_session, state, scope, subject, opened_at, due_at, answer, trouble, awaits,
    closed_at, close_reason
from tickets where scope = ? and state <> 'closed' order by opened_at, rowid

-- name: owed_by
-- The tickets that an agent has to answer or archive, oldest first.
select message_id, debtor, thread, asker, asker_session, state, scope, subject, opened_at, due_at, answer, trouble, awaits,
    closed_at, close_reason
from tickets where debtor = ? and state <> 'closed' order by opened_at, rowid

-- name: owed_to
-- The tickets of an agent's own requests that are not closed, oldest first.
select message_id, debtor, thread, asker, asker_session, state, scope, subject, opened_at, due_at, answer, trouble, awaits,
    closed_at, close_reason
from tickets where asker = ? and state <> 'closed' order by opened_at, rowid

-- name: awaiting
-- The tickets that wait for the answer to a question back.
select message_id, debtor, thread, asker, asker_session, state, scope, subject, opened_at, due_at, answer, trouble, awaits,
    closed_at, close_reason
from tickets where awaits = ? and state <> 'closed' order by opened_at, rowid

-- name: debtors
-- The agents that owe an answer. Skips through the index, so the tickets of an agent are not scanned.
with recursive found (debtor) as (
    select min(debtor) from tickets where state <> 'closed'
    union all
    select (select min(debtor) from tickets where state <> 'closed' and debtor > found.debtor)
    from found where found.debtor is not null
)
select debtor from found where debtor is not null
