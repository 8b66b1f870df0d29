-- name: get
-- One setting by name.
select value from settings where name = ?

-- name: put
-- Add a setting or replace it.
insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value
