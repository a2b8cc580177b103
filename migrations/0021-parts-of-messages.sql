-- Only messages of several parts are looked up by their own key: to join their parts, and to send only what is missing.
-- Most have one part, and were a third of what it cost to note the operator's id.
drop index submissions_of_message;
create index submissions_of_message on submissions (company_id, uuid) where parts > 1;
