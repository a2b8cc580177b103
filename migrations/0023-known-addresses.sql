-- Where each partner logged in from before. Guesses from elsewhere may block a login, and still not for its own partner.
create table partner_networks (
  partner_id   bigint not null references partners on delete cascade,
  network      text not null,
  last_used_at timestamptz not null,
  primary key (partner_id, network)
);
