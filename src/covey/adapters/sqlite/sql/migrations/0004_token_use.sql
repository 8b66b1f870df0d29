-- When each token was last shown, so that one that nobody uses is seen and can be revoked.
alter table tokens add column used_at text;
