-- name: get
-- The binding of one conversation.
select channel, conversation, recipient, bound_at from bindings where channel = ? and conversation = ?

-- name: put
-- Bind a conversation, or change its recipient.
insert into bindings (channel, conversation, recipient, bound_at) values (?, ?, ?, ?)
on conflict (channel, conversation) do update set recipient = excluded.recipient, bound_at = excluded.bound_at

-- name: remove
-- Unbind a conversation.
delete from bindings where channel = ? and conversation = ?

-- name: all
-- Every binding.
select channel, conversation, recipient, bound_at from bindings order by channel, conversation
