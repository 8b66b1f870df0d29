-- What a child says that it is doing, beside what its agent does.
alter table sessions add column status text;
