-- A counter of changes of agents and sessions: while it is unchanged, a process may cache them although others send.
create table directory (changes integer not null) strict;
insert into directory (changes) values (0);
