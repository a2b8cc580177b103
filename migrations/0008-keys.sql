-- Keys of the messaging API: from where each may be used, and the traffic center of what is sent with it.

-- By centers a company keeps its traffic apart. One is the default, made when it is first needed.
create table traffic_centers (
  company_id bigint not null references companies,
  center_id  bigint generated always as identity,
  name       text not null,
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (company_id, center_id),
  unique (company_id, name)
);
create unique index traffic_centers_default on traffic_centers (company_id) where is_default;

-- Addresses and networks; an empty list means from anywhere. Only MESSAGE keys have a center.
alter table api_keys add column addresses text[] not null default '{}';
alter table api_keys add column center_id bigint;
alter table api_keys add foreign key (company_id, center_id) references traffic_centers;

insert into traffic_centers (company_id, name, is_default)
select distinct company_id, 'Default', true from api_keys where type = 'MESSAGE';
update api_keys k set center_id = t.center_id
from traffic_centers t where t.company_id = k.company_id and k.type = 'MESSAGE';
