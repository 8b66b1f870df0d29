-- The status of a child, separate from the status of its agent.
alter table sessions add column status text;
