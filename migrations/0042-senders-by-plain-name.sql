-- Staff who review a name see similar names of other companies. Names without signs and in small letters, in the order of
-- their characters: similar ones stand side by side, and so many on each side are read.
create index senders_by_plain_name on senders ((lower(regexp_replace(sender_name, '[^[:alnum:]]', '', 'g')) collate "C"));
