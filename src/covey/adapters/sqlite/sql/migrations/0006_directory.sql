-- How often agents and sessions have changed: while it stays the same, a process may remember them though others send.
create table directory (changes integer not null) strict;
insert into directory (changes) values (0);
