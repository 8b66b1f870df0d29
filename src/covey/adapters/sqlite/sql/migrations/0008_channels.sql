-- Posts to people, and the bindings of conversations. The partial indexes hold only pending posts; of each conversation
-- only the first has a next_at, so that those behind it cost nothing.
create table posts (
    seq integer primary key, -- the order of creation
    id text not null unique, -- the id of the delivery
    channel text not null,
    conversation text not null,
    message_id text not null,
    state text not null,
    created_at text not null,
    since text not null,
    next_at text,
    attempts integer not null,
    holder text,
    error text
) strict;
create index posts_due on posts (channel, next_at, seq) where state = 'pending' and next_at is not null;
create index posts_held on posts (channel, seq) where state = 'pending' and holder is not null;
create index posts_first on posts (channel, conversation, seq) where state = 'pending';
create index posts_by_state on posts (channel, state, seq);

create table bindings (
    channel text not null,
    conversation text not null,
    recipient text not null,
    bound_at text not null,
    primary key (channel, conversation)
) strict, without rowid;
