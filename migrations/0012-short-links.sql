-- Short links in message texts, and their clicks. No address, browser or other data of a person is stored.

create table short_links (
  code         text primary key,
  company_id   bigint not null,
  message_uuid uuid not null,
  url          text not null,
  created_at   timestamptz not null
);
create index short_links_by_age on short_links (created_at);
create index short_links_by_message on short_links (company_id, message_uuid, code);
comment on table short_links is
  'A short link in the text of one message. The key is the code, because a browser sends nothing else. Housekeeping '
  'deletes a link with its clicks after a year.';
comment on index short_links_by_message is
  'Finds the newest links of a company, and the links of a dispatch, whose messages lie between two keys.';

create table link_clicks (
  company_id bigint not null,
  code       text not null,
  click_id   bigint generated always as identity,
  clicked_at timestamptz not null,
  primary key (company_id, code, click_id)
);
comment on table link_clicks is
  'A click on a short link.';

create table link_hours (
  company_id bigint not null,
  hour       timestamptz not null,
  shard      smallint not null,
  clicks     bigint not null,
  primary key (company_id, hour, shard)
);
create index link_hours_by_age on link_hours (hour);
comment on table link_hours is
  'Counts the clicks of a company in an hour (UTC). Housekeeping deletes hours after a year.';
comment on column link_hours.shard is
  'A random number. The counter has several rows, so that simultaneous clicks seldom wait for each other.';

create table dispatch_clicks (
  company_id  bigint not null,
  dispatch_id bigint not null,
  shard       smallint not null,
  clicks      bigint not null,
  people      bigint not null,
  primary key (company_id, dispatch_id, shard)
);
comment on table dispatch_clicks is
  'Counts the clicks on the short links of a dispatch, in several rows as in link_hours.';
comment on column dispatch_clicks.people is
  'The number of messages with at least one click.';
