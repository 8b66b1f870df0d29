-- The same indexes of what waits. For a list of three values SQLite makes a small table each time that it asks whether a
-- row belongs into an index: that was a third of what a new delivery cost.
drop index deliveries_waiting;
create index deliveries_waiting on deliveries (inbox, seq)
    where state = 'queued' or state = 'offered' or state = 'in_context';
drop index deliveries_unsettled;
create index deliveries_unsettled on deliveries (scope, seq)
    where scope is not null and (state = 'queued' or state = 'offered' or state = 'in_context');
