-- Signing secrets of callbacks are sealed with TIDINGS_SECRET, as the secrets of gateways are. A plain one from before is
-- sealed when an engine starts or when it is needed; until then it stays where it is.
alter table companies add column callback_secret_sealed bytea;
