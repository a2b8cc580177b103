-- At least one row of every table of the baseline schema, for the test of upgrades (src/db/upgrade.test.ts). The rows
-- are written in SQL, because the program itself only knows the newest schema. Nothing here changes after a release.

-- Partners, companies and people
insert into partners (login, password_hash, disabled_at) values ('anna', 'scrypt:anna', null), ('boris', 'scrypt:boris', now());
insert into partner_tokens values ('\x01', 1, now() + interval '1 day');
insert into partner_networks values (1, '192.0.2.0/24', now());
insert into login_failures values ('login:anna', 3, now());
insert into companies (partner_id, name, counteragent_type, counteragent_name, counteragent_inn, currency, billing, budget,
  callback_secret_sealed, inbound) values
  (1, 'Весна', 'LEGAL', 'ООО "Весна"', '7700000001', 'RUB', 'POSTPAID', 1000, '\x00ff5c', true),
  (1, 'Осень', 'INDIVIDUAL', 'ИП Осень', '770000000002', 'RUB', 'PREPAID', null, null, false);
insert into company_documents values (1, 'c0ffee00-0000-4000-8000-000000000001', 'letter.pdf', 'pdf', '\x255044462d');
insert into people (kind, company_id, partner_id, role, login, name, password_hash, totp_secret, totp_step, language) values
  ('COMPANY', 1, null, 'owner', 'owner@spring.example', 'Vera', 'scrypt:vera', '\x0102', 58000000, 'ru'),
  ('PARTNER', null, 1, 'owner', 'anna', '', null, null, null, null),
  ('STAFF', null, null, 'admin', 'root', 'Root', 'scrypt:root', null, null, 'en');
insert into person_sessions values ('\x02', 1, false, '192.0.2.1', 'Firefox', now(), now());
insert into person_invitations values ('\x03', 2, now() + interval '1 day');
insert into person_recovery_codes values (1, '\x04');
insert into person_networks values (1, '192.0.2.0/24', now());

-- Keys and requests
insert into traffic_centers (company_id, name, is_default) values (1, 'Default', true), (1, 'Sales', false);
insert into api_key_ids (company_id, key_hash) values (1, '\x05'), (1, '\x06');
insert into api_keys (company_id, key_id, name, type, center_id, addresses) values
  (1, 1, 'shop', 'MESSAGE', 1, '{192.0.2.0/24,2001:db8::/32}'), (1, 2, '', 'VERIFIER', null, '{}');
insert into key_uses values (1, 1, now());
insert into idempotency_keys values ('partner:1', 'once', '\x07', '{"dispatchId":1}');
select ensure_request_hour(now());
insert into requests (owner_kind, owner_id, at, key_id, method, route, status, took_ms, address, request_id)
  values ('COMPANY', 1, now(), 1, 'POST', '/message', 200, 12, '192.0.2.1', 'req-1');
insert into request_minutes values ('COMPANY', 1, date_trunc('minute', now()), 1, 1, 0, 0);

-- Senders and templates
insert into sender_ids (company_id) values (1), (1);
insert into senders (company_id, sender_id, sender_name, channel_type, common_type, brand, country_code, document_ids,
  fee, status, suspended, suspend_reason, valid_from) values
  (1, 1, 'SPRING', 'SMS', 'PROMO', 'MTS', 'RU', '{c0ffee00-0000-4000-8000-000000000001}', 2500, 'APPROVED', false, null, now()),
  (1, 2, 'AUTUMN', 'SMS', 'COMMON', 'TELE2', 'RU', '{}', null, 'REJECTED', true, 'Asked by the partner', now());
insert into sender_moves (company_id, sender_id, from_status, to_status, moved_by, comment, moved_at)
  values (1, 1, 'AWAITING', 'APPROVED', 'root', 'Fine', now());
insert into template_ids (company_id) values (1);
insert into templates (company_id, template_id, channel_type, traffic_type, pattern, sender_id, content, status, valid_from)
  values (1, 1, 'SMS', 'SERVICE', 'Your order %d is ready, %w', 1, null, 'APPROVED', now());
insert into template_moves (company_id, template_id, from_status, to_status, moved_by, moved_at)
  values (1, 1, 'DRAFT', 'APPROVED', 'root', now());
insert into template_versions values (1, 7);

-- Numbering
insert into operators (inn, name) values ('7740000076', 'ПАО "МТС"');
insert into numbering_ranges values (79160000000, 79169999999, 1, '77+50');
insert into ported_numbers values (79160000002, 2);
insert into numbering_sources values ('register', 'DEF-9xx.csv', 1, now());
insert into numbering_uploads (kind, name, replaces, size_bytes, created_at) values ('ported', 'ported.csv', true, 3, now());
insert into numbering_upload_pieces values (1, 0, '\x616263');

-- Prices: besides the prices of a new installation
insert into tariffs (partner_id, sender_type, brand, pricing_model, currency, valid_from, superseded_at)
  values (1, 'START', 'MTS', 'FIXED', 'RUB', now(), now() + interval '1 month');
insert into country_prices values ('KZ', null, 'RUB', now());

-- Dispatches and messages
insert into dispatch_ids (company_id) values (1), (1);
insert into dispatches (company_id, dispatch_id, name, api, channel_type, traffic_type, text, sender_ids, start_at,
  offset_minutes, hours, days, callback_url, callback_events, status, message_count, first_uuid, last_uuid, tariff_ids,
  price_estimate, created_price, cascade, options, again_of) values
  (1, 1, 'Sale', 'partner', 'SMS', 'PROMO', 'Hello {name}', '{1}', now(), 180, '{9,21}', '{1,2,3}',
    'https://spring.example/hook', '{sent,delivered}', 'STARTED', 2, uuid7_floor(now()), uuid7_floor(now()), '{1}', 15, 7.5,
    null, null, null),
  (1, 2, 'Again', 'messaging', 'SMS', 'SERVICE', 'Hello', '{}', null, null, null, null, null, null, 'COMPLETED', 0, null,
    null, '{}', 0, 0, '[{"channelType": "SMS"}]', '{"ttl": 60}', 1);
insert into dispatch_blocks (company_id, dispatch_id, block, created_messages, failed_messages, created_parts, unsent_messages)
  values (1, 1, 0, 1, 1, 2, 1);
insert into messages (company_id, message_uuid, dispatch_id, dispatch_position, lane_id, seq, sender_id, tariff_id, price, status, parts,
  brand_id, destination, text) values
  (1, uuid7_floor(now()), 1, 0, 1, 0, 1, 1, 7.5, 'CREATED', 2, 1, '79160000001', 'Hello Вера ✓'),
  (1, uuid7_floor(now() + interval '1 month'), 1, 1, null, null, null, null, 0, 'CREATED', 1, 0, '79160000002', 'Later');
insert into messages (company_id, message_uuid, price, final_price, status, error_code, operator_error, parts, brand_id, destination,
  text, channel_type, sender_name, external_id, center_id, sending_method, traffic_type, template_id, content, options,
  callback_url, callback_events, send_at, expires_at, cascade_uuid, cascade_step, read_at, waits_until, sealed, key_id,
  sent_at, final_at)
  values (1, uuid7_floor(now() + interval '1 hour'), 6.5, 0, 'FAILED', 451, '0x0b', 1, 3, '79260000001', 'Your code: ****',
  'WHATSAPP', 'shop', 'order-17', 1, 'API', 'AUTHORIZE', 1, '{"text": "x"}', '{"tags": ["a"]}', 'https://spring.example',
  '{sent}', now(), now(), uuid7_floor(now() + interval '1 hour'), 1, now(), now(), '\x00ff', 1, now(), now());
insert into cascades values (1, uuid7_floor(now() + interval '1 hour'), '[{"channelType": "WHATSAPP"}]', 2, null, 1, null);
insert into flashcall_results values (1, uuid7_floor(now()), 'WRONG_CODE', '1234', now());

-- The engine
insert into lanes (company_id, dispatch_id, channel_type, sender_id, brand_id, priority, zone, tail, cursor, open, end_at, end_code)
  values (1, 1, 'SMS', 1, 1, 3, 'Europe/Moscow', 2, 1, true, now(), 450);
insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
  values (1, 1, 0, 1, '00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002', now());
insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at) values (1, 1, 0, 1, now());
insert into message_timers values (1, uuid7_floor(now()), 'expire', now());
insert into stop_requests values (1, uuid7_floor(now()));
insert into rate_buckets values ('gateway:1', -2.5, now());
insert into engines (worker, host, pid, version) values ('00000000-0000-4000-8000-000000000001', 'a', 1, '0.1.0');
insert into api_processes (process, host, pid, version) values ('00000000-0000-4000-8000-000000000003', 'a', 2, '0.1.0');

-- Gateways and receipts
insert into gateways (name, channel_type, connector, brands, companies, settings, secrets, parts_per_second)
  values ('mts', 'SMS', 'smpp', '{1}', '{1}', '{"host": "smsc.example"}', '\x00ff5c', 80);
insert into gateway_states values (1, '00000000-0000-4000-8000-000000000001', true, 1, 50, 2, 2, 9, 'x', now(), now(), 1, 40);
insert into gateway_minutes
  values (1, date_trunc('minute', now()), '00000000-0000-4000-8000-000000000001', 2, 1, 1, 1, '{"451": 1}');
insert into gateway_binds values (1, 1, '00000000-0000-4000-8000-000000000001', now());
insert into gateway_bind_seekers values (1, '00000000-0000-4000-8000-000000000001', now());
insert into gateway_receipt_ids values (1, 'same', true);
insert into gateway_answers values (1, '00000000-0000-4000-8000-000000000001', now(), 0, 1, now());
insert into submissions values (1, 'A1', (now() at time zone 'UTC')::date, 1, uuid7_floor(now()), 1, 2);
insert into receipt_inbox (gateway_id, provider_id, own_id, status, error_code, operator_error, happened_at)
  values (1, 'A2', 'own', 'FAILED', 451, '11', now());
insert into late_receipts values (1, uuid7_floor(now()), 'DELIVERED', now());
insert into simulator_messages (gateway_id, worker, company_id, message_uuid, sender_name, destination, channel_type, text)
  values (1, '00000000-0000-4000-8000-000000000001', 1, uuid7_floor(now()), 'SPRING', '79160000001', 'SMS', E'line\nbreak');
insert into simulator_inbound (channel_type, sender_name, destination, text) values ('SMS', 'SPRING', '79160000001', 'STOP');

-- Money
insert into accounts values (1, 992.5, 7.5), (2, 0, 0);
insert into account_months values (1, date_trunc('month', now()), 7.5, 1000, -1);
insert into ledger_entries (company_id, kind, debit, credit, amount, currency, month, dispatch_id, note, messages) values
  (1, 'TOPUP', 'cash', 'balance', 1001, 'RUB', date_trunc('month', now()), null, 'Tab	here, \N', null),
  (1, 'CORRECTION', 'corrections', 'balance', -1, 'RUB', date_trunc('month', now()), null, 'Typed wrong', null),
  (1, 'MESSAGES', 'balance', 'messages', 7.5, 'RUB', date_trunc('month', now()), 1, null, 1);
insert into ledger_lines (company_id, day, month, kind, amount, entries, first_entry_id, last_entry_id, first_at, last_at, balance)
  values (1, now(), date_trunc('month', now()), 'TOPUP', 1001, 1, 1, 1, now(), now(), 1001);
insert into charge_days (company_id, day, month, kind, channel_type, brand_id, tariff_id, messages, parts, amount)
  values (1, now(), date_trunc('month', now()), 'MESSAGES', 'SMS', 1, 1, 1, 1, 7.5);
insert into tariff_usage values (1, 1, date_trunc('month', now()), 1, 1);
insert into tariff_recipients values (1, 1, date_trunc('month', now()), '79160000001');
insert into package_holds values (1, 1, 1, 1001, 6000);
insert into closed_months (company_id, month, dispatch_id, block, status, tariff_id, messages, parts, unsent_messages,
  unsent_parts, price, final_price, badly_priced) values (1, '2020-01-01', null, null, 'FAILED', null, 1, 1, 1, 1, 0, 0, 0);
insert into closed_recipients values (1, 1, '79160000009');

-- Callbacks
insert into callbacks (company_id, receiver, url, api, events, event_count, progress, held, happened_at, expires_at) values
  (1, 'https://spring.example', 'https://spring.example/hook', 'partner', '[{"a":  1},{}]', 2, B'10', array[uuid7_floor(now())],
    now(), now());
insert into callback_attempts (company_id, callback_id, tried_events, delivered_events, status_code, answer, took_ms, attempted_at)
  values (1, 1, 2, 1, 503, 'busy', 12, now());
insert into receivers values (1, 'https://spring.example', 3);
insert into callback_tests (company_id, url, api, requested_at) values (1, 'https://spring.example/hook', 'messaging', now());

-- Inbound messages and subscribers
insert into inbound_rules (company_id, channel_type, sender_names, center_id) values (1, 'SMS', '{SPRING}', 1);
insert into inbound_messages (company_id, message_uuid, gateway_id, provider_id, channel_type, sender_name, destination, text,
  center_id, rule_id, is_stop, received_at)
  values (1, uuid7_floor(now()), 1, 'in-1', 'SMS', 'SPRING', '79160000001', 'STOP', 1, 1, true, now());
insert into inbound_stops values (1, 'in-1');
insert into blacklist values (1, '79160000001', 'Asked by the subscriber', 'STOP'), (1, '79160000003', null, null);
insert into subscribers values (1, 'TELEGRAM', 'shop_bot', '79160000001', '271828');
insert into gateway_chats values (1, '271828', '79160000001', false, now());

-- Short links
insert into short_links values ('abc123', 1, uuid7_floor(now()), 'https://spring.example/?q=ё', now());
insert into link_clicks (company_id, code, clicked_at) values (1, 'abc123', now());
insert into link_hours values (1, date_trunc('hour', now()), 0, 1);
insert into dispatch_clicks values (1, 1, 0, 1, 1);

-- Verification
insert into verifier_ids values ('abcdef', 1), ('abcdefghijkl', 1);
insert into verifiers (company_id, verifier_id, kind, name, settings, page, captcha_secret) values
  (1, 'abcdef', 'API', 'Login', '{"length": 4}', null, null),
  (1, 'abcdefghijkl', 'WIDGET', 'Page', '{"length": 6}', '{"origins": ["https://spring.example"]}', '\x00ff5c');
insert into verifications (company_id, verification_uuid, verifier_id, destination, country, prefix, channel_type,
  code_hashes, code_ends, tries_left, sent_at) values (1, uuid7_floor(now()), 'abcdef', '79160000001', 'RU', '7916000', 'SMS',
  array['\x00'::bytea, '\x5c22'], array[now(), '-infinity'], 3, now());
insert into verification_counters values (1, 'abcdef', now(), 'SMS', 'RU', 'sent', 1, 3.9, 0);
insert into verification_limits (company_id, subject, since, count, last_at) values (1, 'number:79160000001', now(), 1, now());
insert into widget_sessions (company_id, key_hash, secret_hash, widget_id, destination, client_address, network, origin,
  channel_type, ends_at)
  values (1, '\x01', '\x02', 'abcdefghijkl', '79160000001', '::1', '::/64', 'https://spring.example', 'SMS', now());
insert into captcha_uses values (1, '\x03', now());
insert into widget_errors (company_id, widget_id, code, reason) values (1, 'abcdefghijkl', 310, 'Wrong origin');

-- Statistics and audit
insert into traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, accepted, spent)
  values (1, date_trunc('hour', now()), 'SMS', 1, 'PROMO', 2, 7.5);
insert into closed_traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, accepted)
  values (1, '2020-01-01', 'SMS', 1, 'PROMO', 1);
select ensure_audit_month(now());
insert into audit_entries (actor_kind, actor, person_id, what, subject_kind, subject_id, subject_name, company_id, before, after)
  values ('STAFF', 'root', 3, 'sender.approve', 'sender', '1', 'SPRING', 1, '{"status": "AWAITING"}', '{"status": "APPROVED"}');
