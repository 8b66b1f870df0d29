-- Checksums of messages and deliveries. A row of an older Covey has none and is accepted unchecked: computing them
-- here would rewrite a large store. A message gets one by export and import, a delivery with its next move.
alter table messages add column checksum integer;
alter table deliveries add column checksum integer;
