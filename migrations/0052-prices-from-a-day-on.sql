-- Prices of other channels and of countries change at once or from a day on, as tariffs do: the newest row that has begun
-- holds. A country whose price is null has none of its own from then on, and that of '*' holds.
alter table channel_prices
  add column valid_from timestamptz not null default 'epoch',
  drop constraint channel_prices_pkey,
  add primary key (channel_type, valid_from);

alter table country_prices
  add column valid_from timestamptz not null default 'epoch',
  alter column price drop not null,
  drop constraint country_prices_pkey,
  add primary key (country_code, valid_from),
  add constraint elsewhere_has_a_price check (country_code <> '*' or price is not null);
