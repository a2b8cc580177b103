-- The list of companies in the cabinet is read page after page by name: of one partner, and of all.
create index companies_of_partner_by_name on companies (partner_id, lower(name), company_id);
create index companies_by_name on companies (lower(name), company_id);
