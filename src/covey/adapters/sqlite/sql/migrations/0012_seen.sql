-- Who waits without doing nothing else, and who takes questions back: the answer goes to the waiter alone.
alter table waits add column blocks integer not null default 1;
alter table waits add column takes_questions integer not null default 0;

-- How much of each message an offer shows, and of how much of a delivery there is evidence.
alter table offers add column extents text; -- JSON: [start, stop, length] for each delivery
alter table deliveries add column seen text; -- JSON: the length, the part that naming proves, the parts with evidence
