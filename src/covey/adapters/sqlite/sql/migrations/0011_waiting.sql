-- The same indexes of unsettled deliveries. For a list of three values SQLite builds a small table for each row that it
-- checks against the condition of an index: that was a third of the cost of a new delivery.
drop index deliveries_waiting;
create index deliveries_waiting on deliveries (inbox, seq)
    where state = 'queued' or state = 'offered' or state = 'in_context';
drop index deliveries_unsettled;
create index deliveries_unsettled on deliveries (scope, seq)
    where scope is not null and (state = 'queued' or state = 'offered' or state = 'in_context');
