-- Waits that do not block, and waits that accept questions back: the answer goes to the waiter alone.
alter table waits add column blocks integer not null default 1;
alter table waits add column takes_questions integer not null default 0;

-- The extent of each message that an offer shows, and the extent of the evidence of a delivery.
alter table offers add column extents text; -- JSON: [start, stop, length] for each delivery
alter table deliveries add column seen text; -- JSON: the length, the part that naming proves, the parts with evidence
