-- Only messages of several parts are looked up by their own key: to join their parts, and to send only what is missing.
-- Most have one part, and need not be in an index for that.
drop index submissions_of_message;
create index submissions_of_message on submissions (company_id, uuid) where parts > 1;
