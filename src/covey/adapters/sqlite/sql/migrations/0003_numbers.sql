-- What was handled, by the number that its recipient knows it by. What still waits is found by its inbox, so that
-- sending costs no more than before.
create index deliveries_handled on deliveries (agent, number, copy) where state = 'handled';
