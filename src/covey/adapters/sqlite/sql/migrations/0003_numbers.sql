-- Handled deliveries, by the recipient's number. Unsettled deliveries are found by their inbox, so that sending costs no
-- more than before.
create index deliveries_handled on deliveries (agent, number, copy) where state = 'handled';
