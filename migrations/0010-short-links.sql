-- Short links in message texts, and who followed them when: no address, no browser, nothing about the person.

-- Keyed by the code, which is all that a browser brings.
create table short_links (
  code         text primary key,
  company_id   bigint not null,
  message_uuid uuid not null,
  url          text not null,
  created_at   timestamptz not null
);
create index short_links_by_age on short_links (created_at);

-- A click is a row; a link's clicks are counted by reading them.
create table link_clicks (
  company_id bigint not null,
  code       text not null,
  click_id   bigint generated always as identity,
  clicked_at timestamptz not null,
  primary key (company_id, code, click_id)
);
