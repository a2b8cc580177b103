-- The later steps of a dispatch by cascade know their dispatch: they are shown as its messages, and end with its stop.
alter table cascades add column dispatch_id bigint;
update cascades c set dispatch_id = m.dispatch_id
from messages m
where m.company_id = c.company_id and m.uuid = c.cascade_uuid and m.dispatch_id is not null;

-- Of those alone that went on: most never do, and taking in the recipients of a dispatch pays nothing for it.
create index cascades_gone_on on cascades (company_id, dispatch_id) where dispatch_id is not null and next_step > 2;
