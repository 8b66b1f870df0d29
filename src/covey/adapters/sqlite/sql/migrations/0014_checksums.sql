-- Checksums of messages and deliveries. A row that an older Covey wrote has none and is taken as it is: computing them
-- here would write a large store anew. A message gets one by export and import, a delivery with its next move.
alter table messages add column checksum integer;
alter table deliveries add column checksum integer;
