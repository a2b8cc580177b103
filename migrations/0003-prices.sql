-- The prices a new installation starts with, in roubles without VAT. They are data: staff change them at any time.

-- general names ------------------------------------------------------------------------------------------------
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

-- registered names ---------------------------------------------------------------------------------------------
-- fixed, but by unique recipients at one operator for advertising
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

-- paid names ---------------------------------------------------------------------------------------------------
-- the more messages a month, the cheaper; by unique recipients at one operator
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

-- monthly fees of paid names -----------------------------------------------------------------------------------
insert into sender_fees (brand, value, currency) values
  ('MTS', 2500.00, 'RUB'), ('BEELINE', 2200.00, 'RUB'), ('MEGAFON', 2750.00, 'RUB'), ('TELE2', 1900.00, 'RUB');

-- other channels, and SMS to other countries -------------------------------------------------------------------
insert into channel_prices (channel_type, price, currency) values
  ('VIBER', 3.90, 'RUB'), ('WHATSAPP', 6.50, 'RUB'), ('VK', 2.30, 'RUB'), ('TELEGRAM', 1.50, 'RUB'),
  ('FLASHCALL', 0.95, 'RUB'), ('VOICECODE', 1.80, 'RUB'), ('TEXT_TO_SPEECH', 3.20, 'RUB'), ('WEASY', 2.10, 'RUB'),
  ('PUSH', 0.15, 'RUB');

insert into country_prices (country_code, price, currency) values
  ('KZ', 14.50, 'RUB'), ('BY', 16.90, 'RUB'), ('AM', 19.50, 'RUB'), ('KG', 18.20, 'RUB'), ('UZ', 22.40, 'RUB'),
  ('TJ', 24.00, 'RUB'), ('AZ', 25.60, 'RUB'), ('GE', 12.80, 'RUB'), ('RS', 9.70, 'RUB'), ('TR', 5.40, 'RUB'),
  ('DE', 11.90, 'RUB'), ('*', 28.00, 'RUB');
