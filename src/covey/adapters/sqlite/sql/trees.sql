-- name: get
-- One tree by its root.
select root, began_at, updated_at, messages, depth, children, base, refused, stopped, stopped_at, talks
from trees where root = ?

-- name: put
-- Add a tree or replace it.
insert into trees (root, began_at, updated_at, messages, depth, children, base, refused, stopped, stopped_at, talks, echoes)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (root) do update
set began_at = excluded.began_at, updated_at = excluded.updated_at, messages = excluded.messages,
    depth = excluded.depth, children = excluded.children, base = excluded.base, refused = excluded.refused,
    stopped = excluded.stopped, stopped_at = excluded.stopped_at, talks = excluded.talks, echoes = excluded.echoes

-- name: stopped
-- The stopped trees, by their last growth, newest first.
select root, began_at, updated_at, messages, depth, children, base, refused, stopped, stopped_at, talks
from trees indexed by trees_stopped where stopped is not null or echoes > 0 order by updated_at desc, root desc

-- name: since
-- The trees that grew since a time, by their last growth, newest first.
select root, began_at, updated_at, messages, depth, children, base, refused, stopped, stopped_at, talks
from trees where updated_at >= ? order by updated_at desc, root desc limit ?

-- name: forget
-- Remove trees that have not grown since a time.
delete from trees where root in (
    select root from trees where updated_at < ? and stopped is null and echoes = 0 limit ?
) returning 1
