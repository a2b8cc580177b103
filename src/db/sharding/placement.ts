/**
 * Where the rows of a table are in a database that is sharded with Citus. A table of companies is distributed by
 * `company_id`: all rows of a company are on one node. The other tables are listed here.
 */

/** Every node has a copy, because statements join these tables with tables of companies. They change rarely. */
export const referenceTables: Record<string, string> = {
  tariffs: 'prices are shared by all companies',
  tariff_steps: 'prices are shared by all companies',
}

/** Only the coordinator has the rows. A reference table would write to every node, and could not while a node is away. */
export const coordinatorTables: Record<string, string> = {
  partners: 'a partner has many companies',
  gateways: 'a gateway serves all companies',
  gateway_chats: 'a chat of a bot is read before its company is known',
  partner_tokens: 'a token is read before its company is known',
  partner_networks: 'a partner has many companies',
  people: 'a person signs in before the company is known; staff and partners belong to no company',
  person_sessions: 'a session is read before its person is known',
  person_invitations: 'an invitation is read before its person is known',
  person_recovery_codes: 'the codes belong to a person',
  person_networks: 'the networks belong to a person',
  audit_entries: 'changes of partners, staff and the service belong to no company',
  login_failures: 'counted by login and address, before the person is known',
  sender_fees: 'prices are shared by all companies',
  channel_prices: 'prices are shared by all companies',
  country_prices: 'prices are shared by all companies',
  sender_ids: 'resolver from a bare id to its company',
  dispatch_ids: 'resolver from a bare id to its company',
  template_ids: 'resolver from a bare id to its company',
  api_key_ids: 'resolver from a key to its company',
  verifier_ids: 'resolver from a verifier or widget to its company',
  idempotency_keys: 'a key belongs to the caller, before its company is known',
  requests: 'the owner is the company of a key or the partner of a token',
  request_minutes: 'the owner is the company of a key or the partner of a token',
  numbering_version: 'the numbering plan',
  numbering_sources: 'the numbering plan',
  numbering_uploads: 'files for the numbering plan',
  numbering_upload_pieces: 'files for the numbering plan',
  numbering_ranges: 'the numbering plan',
  operators: 'the numbering plan',
  ported_numbers: 'the numbering plan',
  virtual_operators: 'the numbering plan',
  gateway_states: 'a gateway serves all companies',
  gateway_minutes: 'a gateway serves all companies',
  api_processes: 'processes, not companies',
  gateway_binds: 'connections of gateways, shared by the engines',
  gateway_bind_seekers: 'connections of gateways, shared by the engines',
  gateway_receipt_ids: 'a gateway serves all companies',
  gateway_answers: 'a gateway serves all companies',
  inbound_stops: 'the key is the id of the messenger',
  engines: 'processes, not companies',
  rate_buckets: 'the key is the limited object: a gateway, a sender, a company or a dispatch',
  submissions: 'the key is the id of the operator',
  receipt_inbox: 'a receipt has the id of the operator',
  short_links: 'the key is the code in the link',
  simulator_batches: 'the memory of the simulated operators',
  simulator_messages: 'the memory of the simulated operators',
  simulator_inbound: 'the memory of the simulated operators',
  schema_migrations: 'about the schema itself',
  schema_compatibility: 'about the schema itself',
}

/**
 * Tables of the coordinator that change in one transaction with rows of a company. Citus must know them: otherwise it
 * commits the rows of the company first, and a crash of the coordinator loses the others.
 */
export const managedTables = new Set([
  'dispatch_ids',
  'sender_ids',
  'template_ids',
  'api_key_ids',
  'verifier_ids',
  'idempotency_keys',
  'short_links',
  'submissions',
  'audit_entries',
  'inbound_stops',
])

export type Placement = 'company' | 'reference' | 'coordinator'

export const placementOf = (table: string): Placement =>
  table in referenceTables ? 'reference' : table in coordinatorTables ? 'coordinator' : 'company'
