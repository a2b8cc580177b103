-- Staff correct a wrong top-up: a CORRECTION has a sign and a reason, and is a line of its own as a top-up is. No released
-- program writes ledger_lines, so their unique index is replaced at once.
alter table ledger_entries
  drop constraint ledger_entries_kind_check,
  drop constraint ledger_entries_amount_check,
  add constraint ledger_entries_kind_check
    check (kind in ('TOPUP', 'CORRECTION', 'MESSAGES', 'MAU_PACKAGE', 'SENDER_FEE')),
  add constraint ledger_entries_amount_check check (amount > 0 or kind = 'CORRECTION' and amount < 0),
  add constraint corrections_have_a_reason check (kind <> 'CORRECTION' or note is not null);

drop index ledger_lines_of_cause;
create unique index ledger_lines_of_cause on ledger_lines (company_id, day, month, kind, dispatch_id, sender_id, tariff_id)
  nulls not distinct where kind not in ('TOPUP', 'CORRECTION');

alter table account_months add column corrected numeric(18, 4) not null default 0;
