-- name: deliveries
-- Remove the deliveries whose message could not be saved.
delete from deliveries where message_id not in (select id from messages) returning 1

-- name: tickets
-- Remove the tickets whose message could not be saved.
delete from tickets where message_id not in (select id from messages) returning 1

-- name: tasks
-- Remove the tasks whose message could not be saved.
delete from tasks where id not in (select id from messages) returning 1

-- name: posts
-- Remove the posts whose message could not be saved.
delete from posts where message_id not in (select id from messages) returning 1

-- name: pairs
-- Remove the index entries of dialogues whose first message could not be saved.
delete from pairs where message_id not in (select id from messages) returning 1
