-- name: get
-- One flow by its source and target.
select source, target, at, samples, initiative, exchanged, themes from flows where source = ? and target = ?

-- name: put
-- Add a flow or replace it.
insert into flows (source, target, at, samples, initiative, exchanged, themes) values (?, ?, ?, ?, ?, ?, ?)
on conflict (source, target) do update
set at = excluded.at, samples = excluded.samples, initiative = excluded.initiative, exchanged = excluded.exchanged,
    themes = excluded.themes

-- name: strongest
-- The flows of a source, by exchanged samples, highest first.
select source, target, at, samples, initiative, exchanged, themes
from flows where source = ? order by exchanged desc, target limit ?

-- name: remove
-- Remove the flows of a source.
delete from flows where source = ?

-- name: forget
-- Remove flows without a sample since a time.
delete from flows where (source, target) in (select source, target from flows where at < ? limit ?) returning 1
