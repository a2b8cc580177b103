-- Prices, in roubles without VAT for a new installation. The inserted prices are a start: staff change them at any time.

create table tariffs (
  tariff_id     bigint generated always as identity primary key,
  partner_id    bigint references partners,
  sender_type   text not null check (sender_type in ('COMMON', 'START', 'PRO')),
  brand         text,
  traffic_type  text check (traffic_type in ('PROMO', 'SERVICE', 'TRANSACT', 'AUTHORIZE')),
  pricing_model text not null check (pricing_model in ('FIXED', 'SCALED', 'MAU')),
  currency      text not null,
  valid_from    timestamptz,
  superseded_at timestamptz,
  check (superseded_at >= valid_from)
);
create unique index tariffs_current on tariffs (partner_id, sender_type, brand, traffic_type) nulls not distinct
  where superseded_at is null;
comment on table tariffs is
  'The price of SMS to Russian numbers for a sender type. The most specific tariff wins: a null in partner_id, brand '
  'or traffic_type means "any". Messages keep the tariff under which they were accepted, so a tariff never changes: a '
  'new tariff replaces it.';
comment on column tariffs.valid_from is
  'The start of the tariff; null: it was always valid. The moment may lie in the future.';
comment on column tariffs.superseded_at is
  'The end of the tariff; null: no end is known. A tariff that was withdrawn before its start ends at its start.';

create table tariff_steps (
  tariff_id       bigint not null references tariffs on delete cascade,
  from_count      bigint not null check (from_count >= 0),
  price           numeric(18, 4) not null check (price >= 0),
  price_mau_batch numeric(18, 4) check (price_mau_batch >= 0),
  primary key (tariff_id, from_count)
);
comment on table tariff_steps is
  'A price of a tariff, valid from a count of the month on. The count is the number of messages (SCALED) or of unique '
  'recipients (MAU).';
comment on column tariff_steps.price_mau_batch is
  'The price of the package that is charged when the step is reached. Only MAU tariffs have it.';

-- General names: one price for each operator.
insert into tariffs (sender_type, brand, traffic_type, pricing_model, currency) values
  ('COMMON', null,      null, 'FIXED', 'RUB'),
  ('COMMON', 'MTS',     null, 'FIXED', 'RUB'),
  ('COMMON', 'BEELINE', null, 'FIXED', 'RUB'),
  ('COMMON', 'MEGAFON', null, 'FIXED', 'RUB'),
  ('COMMON', 'TELE2',   null, 'FIXED', 'RUB');

insert into tariff_steps (tariff_id, from_count, price)
select tariff_id, 0, price from tariffs join (values
  (null, 7.90), ('MTS', 7.50), ('BEELINE', 7.30), ('MEGAFON', 7.90), ('TELE2', 6.80)
) as p (brand, price) on tariffs.brand is not distinct from p.brand
where sender_type = 'COMMON';

-- Registered names: fixed prices. Advertising at MEGAFON is priced by unique recipients.
insert into tariffs (sender_type, brand, traffic_type, pricing_model, currency)
select 'START', brand, traffic_type, case when brand = 'MEGAFON' and traffic_type = 'PROMO' then 'MAU' else 'FIXED' end, 'RUB'
from (values ('MTS'), ('BEELINE'), ('MEGAFON'), ('TELE2')) as b (brand),
     (values ('PROMO'), ('SERVICE'), ('TRANSACT'), ('AUTHORIZE')) as t (traffic_type);
insert into tariffs (sender_type, brand, traffic_type, pricing_model, currency) values ('START', null, null, 'FIXED', 'RUB');

insert into tariff_steps (tariff_id, from_count, price)
select tariff_id, 0, price from tariffs join (values
  (null, null, 6.90),
  ('MTS', 'PROMO', 6.40),     ('MTS', 'SERVICE', 4.10),     ('MTS', 'TRANSACT', 3.20),     ('MTS', 'AUTHORIZE', 3.90),
  ('BEELINE', 'PROMO', 6.20), ('BEELINE', 'SERVICE', 3.90), ('BEELINE', 'TRANSACT', 3.10), ('BEELINE', 'AUTHORIZE', 3.80),
                              ('MEGAFON', 'SERVICE', 4.20), ('MEGAFON', 'TRANSACT', 3.30), ('MEGAFON', 'AUTHORIZE', 4.00),
  ('TELE2', 'PROMO', 5.60),   ('TELE2', 'SERVICE', 3.60),   ('TELE2', 'TRANSACT', 2.90),   ('TELE2', 'AUTHORIZE', 3.50)
) as p (brand, traffic_type, price)
  on tariffs.brand is not distinct from p.brand and tariffs.traffic_type is not distinct from p.traffic_type
where sender_type = 'START' and pricing_model = 'FIXED';

insert into tariff_steps (tariff_id, from_count, price, price_mau_batch)
select tariff_id, from_count, price, price_mau_batch from tariffs, (values
  (1, 1.20, 1500.00), (1001, 1.20, 6000.00), (5001, 1.10, 22000.00), (25001, 1.00, 70000.00)
) as s (from_count, price, price_mau_batch)
where sender_type = 'START' and pricing_model = 'MAU';

-- Paid names: the price of a message falls with the number of messages in the month. Advertising at MEGAFON is priced
-- by unique recipients.
insert into tariffs (sender_type, brand, traffic_type, pricing_model, currency)
select 'PRO', brand, traffic_type, case when brand = 'MEGAFON' and traffic_type = 'PROMO' then 'MAU' else 'SCALED' end, 'RUB'
from (values ('MTS'), ('BEELINE'), ('MEGAFON'), ('TELE2')) as b (brand),
     (values ('PROMO'), ('SERVICE'), ('TRANSACT'), ('AUTHORIZE')) as t (traffic_type);
insert into tariffs (sender_type, brand, traffic_type, pricing_model, currency) values ('PRO', null, null, 'SCALED', 'RUB');

insert into tariff_steps (tariff_id, from_count, price)
select tariff_id, from_count, round(base * share, 2) from tariffs
join (values
  (null, null, 6.20),
  ('MTS', 'PROMO', 5.90),     ('MTS', 'SERVICE', 3.70),     ('MTS', 'TRANSACT', 2.80),     ('MTS', 'AUTHORIZE', 3.50),
  ('BEELINE', 'PROMO', 5.70), ('BEELINE', 'SERVICE', 3.50), ('BEELINE', 'TRANSACT', 2.70), ('BEELINE', 'AUTHORIZE', 3.40),
                              ('MEGAFON', 'SERVICE', 3.80), ('MEGAFON', 'TRANSACT', 2.90), ('MEGAFON', 'AUTHORIZE', 3.60),
  ('TELE2', 'PROMO', 5.10),   ('TELE2', 'SERVICE', 3.20),   ('TELE2', 'TRANSACT', 2.50),   ('TELE2', 'AUTHORIZE', 3.10)
) as p (brand, traffic_type, base)
  on tariffs.brand is not distinct from p.brand and tariffs.traffic_type is not distinct from p.traffic_type
cross join (values (1, 1.00), (10001, 0.92), (100001, 0.84), (1000001, 0.75)) as s (from_count, share)
where sender_type = 'PRO' and pricing_model = 'SCALED';

insert into tariff_steps (tariff_id, from_count, price, price_mau_batch)
select tariff_id, from_count, price, price_mau_batch from tariffs, (values
  (1, 0.90, 1200.00), (1001, 0.90, 5000.00), (5001, 0.80, 18000.00), (25001, 0.70, 55000.00)
) as s (from_count, price, price_mau_batch)
where sender_type = 'PRO' and pricing_model = 'MAU';

create table sender_fees (
  brand    text primary key,
  value    numeric(18, 4) not null check (value >= 0),
  currency text not null
);
insert into sender_fees (brand, value, currency) values
  ('MTS', 2500.00, 'RUB'), ('BEELINE', 2200.00, 'RUB'), ('MEGAFON', 2750.00, 'RUB'), ('TELE2', 1900.00, 'RUB');
comment on table sender_fees is
  'The monthly fee of a paid sender name at one operator.';

create table channel_prices (
  channel_type text not null,
  price        numeric(18, 4) not null check (price >= 0),
  currency     text not null,
  valid_from   timestamptz not null default 'epoch',
  primary key (channel_type, valid_from)
);
insert into channel_prices (channel_type, price, currency) values
  ('VIBER', 3.90, 'RUB'), ('WHATSAPP', 6.50, 'RUB'), ('VK', 2.30, 'RUB'), ('TELEGRAM', 1.50, 'RUB'),
  ('FLASHCALL', 0.95, 'RUB'), ('VOICECODE', 1.80, 'RUB'), ('TEXT_TO_SPEECH', 3.20, 'RUB'), ('WEASY', 2.10, 'RUB'),
  ('PUSH', 0.15, 'RUB'), ('TELEGRAM_GATEWAY', 1.20, 'RUB');
comment on table channel_prices is
  'The price of a message of a channel other than SMS. The row with the newest valid_from in the past holds.';

create table country_prices (
  country_code text not null,
  price        numeric(18, 4) check (price >= 0),
  currency     text not null,
  valid_from   timestamptz not null default 'epoch',
  primary key (country_code, valid_from),
  constraint elsewhere_has_a_price check (country_code <> '*' or price is not null)
);
insert into country_prices (country_code, price, currency) values
  ('KZ', 14.50, 'RUB'), ('BY', 16.90, 'RUB'), ('AM', 19.50, 'RUB'), ('KG', 18.20, 'RUB'), ('UZ', 22.40, 'RUB'),
  ('TJ', 24.00, 'RUB'), ('AZ', 25.60, 'RUB'), ('GE', 12.80, 'RUB'), ('RS', 9.70, 'RUB'), ('TR', 5.40, 'RUB'),
  ('DE', 11.90, 'RUB'), ('*', 28.00, 'RUB');
comment on table country_prices is
  'The price of an SMS part to another country. The row with the newest valid_from in the past holds.';
comment on column country_prices.country_code is
  'Two letters of ISO 3166; "*": all countries without a price of their own.';
comment on column country_prices.price is
  'Null: from then on the country has no price of its own, and the price of "*" holds.';
