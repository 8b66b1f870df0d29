-- The last use of each token, so that unused tokens can be found and revoked.
alter table tokens add column used_at text;
