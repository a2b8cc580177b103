-- The page about verification adds up the counters of a company over a period, for all of its verifiers together.
create index verification_counters_by_day on verification_counters (company_id, day);
