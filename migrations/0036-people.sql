-- People who sign in to the cabinet: of a company, of a partner, or staff.

-- The owner of a partner signs in with the partner's login and password: its row is made at the first sign-in and has no
-- password of its own. A person who was invited has none either until the invitation is accepted.
create table people (
  person_id     bigint generated always as identity primary key,
  kind          text not null check (kind in ('COMPANY', 'PARTNER', 'STAFF')),
  company_id    bigint references companies,
  partner_id    bigint references partners on delete cascade,
  role          text not null,
  login         text not null unique,
  name          text not null default '',
  password_hash text,
  totp_secret   bytea,
  totp_step     bigint,
  language      text check (language in ('en', 'ru')),
  theme         text not null default 'auto' check (theme in ('auto', 'light', 'dark')),
  created_at    timestamptz not null default now(),
  disabled_at   timestamptz,
  check ((kind = 'COMPANY') = (company_id is not null)),
  check ((kind = 'PARTNER') = (partner_id is not null))
);
create index people_of_company on people (company_id) where company_id is not null;
create index people_of_partner on people (partner_id) where partner_id is not null;

-- Known by the hash of what the browser's cookie holds. `half`: the password was right, the second factor is missing.
create table person_sessions (
  session_hash bytea primary key,
  person_id    bigint not null references people on delete cascade,
  half         boolean not null,
  address      text not null,
  agent        text not null,
  created_at   timestamptz not null,
  used_at      timestamptz not null
);
create index person_sessions_of_person on person_sessions (person_id);
create index person_sessions_by_use on person_sessions (used_at);

-- A link that lets a person choose a password, once.
create table person_invitations (
  token_hash bytea primary key,
  person_id  bigint not null unique references people on delete cascade,
  expires_at timestamptz not null
);

create table person_recovery_codes (
  person_id bigint not null references people on delete cascade,
  code_hash bytea not null,
  primary key (person_id, code_hash)
);

-- Networks that a person signed in from: guesses from elsewhere do not lock the person out there.
create table person_networks (
  person_id    bigint not null references people on delete cascade,
  network      text not null,
  last_used_at timestamptz not null,
  primary key (person_id, network)
);

insert into people (kind, role, login, password_hash, created_at)
select 'STAFF', 'admin', login, password_hash, created_at from staff order by staff_id;
drop table staff;
