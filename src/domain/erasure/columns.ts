import { isFinished } from '../cascades/cascades.ts'
import { REMOVED } from '../messages/message.ts'

/**
 * Every column of the schema that can hold a text, with the way in which `tidings erase` treats it. A test compares the
 * list with the schema, so a new column must be added here.
 */
export type TableRule = {
  /** The column with the phone number of the row. */
  number?: string
  /** Rows that name the number are deleted. Otherwise the number is masked. */
  isDeleted?: true
  /**
   * Numbers as the service writes them, and ids of operators and messengers. They are compared with the number as a whole: the
   * digits of another number, or of an id, can look like a spelling of it.
   */
  equal?: string[]
  /** Free texts. */
  texts?: string[]
  /** Values of JSON, in a column of any type. */
  json?: string[]
  /** The columns of JSON that the service writes: "destination" is a number as a whole. */
  ownJson?: string[]
  /** Values that housekeeping deletes, with the time. The erasure is refused until then. */
  expiring?: Record<string, string>
  /** Values that people chose, and that the service needs. The erasure is refused while one names the number. */
  settings?: string[]
  /** Words of the program, such as names of channels and statuses. */
  words?: string[]
  /** Hashes, random values and encrypted values. */
  opaque?: string[]
  /** Columns that hold no number for another reason. */
  others?: Record<string, string>
  /** A value that is changed before the number in it is masked: the expression of the new value, with the number as $3. */
  before?: Record<string, string>
  /** The rows that may change. Other rows are still in use: the erasure is refused while one names the number. */
  finished?: string
  /** The condition reads other tables of the company, so it is asked for one company at a time. */
  isFinishedByOthers?: true
}

const ADDRESS = 'an address of the network'
const OPERATOR = 'the public register of operators'

/** A callback about an inbound message has the text that the subscriber wrote. */
const eventsWithoutTexts = `(
  select json_agg(case when e.event -> 'item' ->> 'destination' = $3
    then jsonb_set(jsonb_set(e.event::jsonb, '{item,content}', '"${REMOVED}"'), '{item,specialContent}', 'null')::json
    else e.event end order by e.place)
  from json_array_elements(events) with ordinality e (event, place))`

const simulatedWithoutTexts = `(
  select json_agg(case when m.message ->> 'destination' = $3
    then jsonb_set(m.message::jsonb, '{text}', '"${REMOVED}"')::json else m.message end order by m.place)
  from json_array_elements(messages::json) with ordinality m (message, place))`

export const tableRules: Record<string, TableRule> = {
  schema_migrations: { others: { name: 'the name of a migration' } },

  partners: { settings: ['login'], words: ['currency'], opaque: ['password_hash'] },
  partner_tokens: { opaque: ['token_hash'] },
  partner_networks: { others: { network: ADDRESS } },
  login_failures: { isDeleted: true, texts: ['subject'] },
  companies: {
    settings: [
      'name',
      'counteragent_name',
      'counteragent_inn',
      'counteragent_address',
      'counteragent_kpp',
      'actual_address',
    ],
    words: ['counteragent_type', 'currency'],
    opaque: ['callback_secret', 'callback_secret_sealed'],
  },
  company_documents: {
    settings: ['filename'],
    words: ['kind'],
    others: { content: 'a document of the company about its sender names, which cannot be searched' },
  },
  people: {
    settings: ['login', 'name'],
    words: ['kind', 'role', 'language', 'theme'],
    opaque: ['password_hash', 'totp_secret'],
  },
  person_sessions: { texts: ['agent'], opaque: ['session_hash'], others: { address: ADDRESS } },
  person_invitations: { opaque: ['token_hash'] },
  person_recovery_codes: { opaque: ['code_hash'] },
  person_networks: { others: { network: ADDRESS } },

  traffic_centers: { settings: ['name'] },
  api_keys: { settings: ['name'], words: ['type'], others: { addresses: ADDRESS } },
  api_key_ids: { opaque: ['key_hash'] },
  idempotency_keys: {
    expiring: { key: 'after 24 hours' }, // a repeated request must find its key
    json: ['answer'],
    ownJson: ['answer'],
    words: ['owner'],
    opaque: ['request_hash'],
  },
  requests: {
    texts: ['request_id'],
    words: ['owner_kind', 'method'],
    others: { route: 'the pattern of a route, without values', address: ADDRESS },
  },
  request_minutes: { words: ['owner_kind'] },

  senders: {
    settings: ['sender_name'],
    texts: ['description', 'manager_comment', 'suspend_reason'],
    words: ['channel_type', 'common_type', 'brand', 'country_code'],
  },
  sender_moves: { texts: ['comment', 'moved_by'] },
  templates: { settings: ['pattern', 'content'], texts: ['manager_comment'], words: ['channel_type', 'traffic_type'] },
  template_moves: { texts: ['comment', 'moved_by'] },

  operators: { others: { inn: OPERATOR, name: OPERATOR } },
  numbering_ranges: { others: { region: OPERATOR } },
  virtual_operators: { others: { inn: OPERATOR, name: OPERATOR } },
  numbering_sources: { texts: ['name'], words: ['kind'] },
  numbering_uploads: {
    texts: ['name'],
    words: ['kind'],
    others: { difference: 'the erasure waits for uploads of ported numbers, and others have ranges only' },
  },
  numbering_upload_pieces: {
    others: { content: 'the erasure waits for uploads of ported numbers, and others have ranges only' },
  },
  ported_numbers: { others: { number: 'the row of the number is deleted' } },

  tariffs: { words: ['sender_type', 'brand', 'traffic_type', 'pricing_model', 'currency'] },
  sender_fees: { words: ['brand', 'currency'] },
  channel_prices: { words: ['channel_type', 'currency'] },
  country_prices: { words: ['country_code', 'currency'] },

  dispatches: {
    texts: ['name', 'text', 'sender_name', 'callback_url'],
    json: ['cascade', 'options'],
    words: ['api', 'channel_type', 'traffic_type', 'callback_events'],
    finished: "status = 'COMPLETED'",
  },
  messages: {
    number: 'destination',
    equal: ['destination'],
    texts: ['text', 'sender_name', 'external_id', 'callback_url', 'operator_error'],
    json: ['content', 'options'],
    words: ['channel_type', 'sending_method', 'traffic_type', 'callback_events'],
    opaque: ['sealed'],
    finished: "status in ('DELIVERED', 'FAILED')",
  },
  cascades: { json: ['steps'], finished: isFinished('cascades'), isFinishedByOthers: true },
  flashcall_results: { texts: ['code'], words: ['result'] },

  lanes: { expiring: { sender_name: 'two days after its last message' }, words: ['channel_type', 'zone'] },
  message_timers: { words: ['kind'] },
  rate_buckets: { others: { subject: 'the id of a gateway, sender, company or dispatch' } },
  engines: { others: { host: 'a machine of the service' }, words: ['version'] },
  api_processes: { others: { host: 'a machine of the service' }, words: ['version'] },

  gateways: { settings: ['name', 'settings'], words: ['channel_type', 'connector'], opaque: ['secrets'] },
  gateway_states: { texts: ['last_error'] },
  gateway_minutes: { others: { errors: 'error codes with counts' } },
  gateway_receipt_ids: { words: ['relation'] },
  submissions: { equal: ['provider_id'], words: ['status'] },
  receipt_inbox: {
    isDeleted: true,
    equal: ['provider_id', 'own_id', 'subscriber'],
    texts: ['operator_error'],
    words: ['status'],
  },
  late_receipts: { texts: ['operator_error'] },
  simulator_batches: {
    json: ['messages'],
    before: { messages: simulatedWithoutTexts },
    ownJson: ['messages'],
  },
  simulator_messages: {
    isDeleted: true,
    equal: ['destination'],
    texts: ['text', 'sender_name'],
    words: ['channel_type'],
  },
  simulator_inbound: {
    isDeleted: true,
    equal: ['destination'],
    texts: ['text', 'sender_name'],
    words: ['channel_type'],
  },

  ledger_entries: { texts: ['note'], words: ['kind', 'debit', 'credit', 'currency'] },
  ledger_lines: { texts: ['note'], words: ['kind'] },
  charge_days: { words: ['kind', 'channel_type'] },
  tariff_recipients: { number: 'destination', equal: ['destination'] },
  closed_recipients: { number: 'destination', equal: ['destination'] },

  callbacks: {
    texts: ['url'],
    json: ['events'],
    before: { events: eventsWithoutTexts },
    ownJson: ['events'],
    expiring: { receiver: 'after 30 days' },
    words: ['api', 'status'],
    others: { progress: 'one bit for each event' },
  },
  callback_attempts: { texts: ['error', 'answer'] },
  receivers: { expiring: { receiver: '30 days after its last callback' } },
  callback_tests: { texts: ['url', 'body', 'error', 'answer'], words: ['api'] },

  inbound_rules: { settings: ['sender_names', 'callback_url'], words: ['channel_type'] },
  inbound_messages: {
    number: 'destination',
    equal: ['destination', 'provider_id'],
    texts: ['text', 'sender_name'],
    json: ['content'],
    words: ['channel_type'],
  },
  inbound_stops: { isDeleted: true, equal: ['provider_id'] },
  blacklist: { number: 'destination', equal: ['destination'], texts: ['comment'], words: ['source'] },
  subscribers: {
    isDeleted: true,
    equal: ['destination', 'address'],
    texts: ['sender_name'],
    words: ['channel_type'],
  },
  gateway_chats: { isDeleted: true, equal: ['destination', 'address'] },

  short_links: { texts: ['url'], opaque: ['code'] },
  link_clicks: { opaque: ['code'] },

  verifier_ids: { opaque: ['verifier_id'] },
  verifiers: { settings: ['name', 'settings', 'page'], words: ['kind'], opaque: ['verifier_id', 'captcha_secret'] },
  verifications: {
    isDeleted: true,
    equal: ['destination'],
    words: ['country', 'channel_type'],
    opaque: ['verifier_id', 'code_hashes'],
    others: { prefix: 'the beginning of ten thousand numbers' },
  },
  verification_counters: { words: ['channel_type', 'country', 'what'], opaque: ['verifier_id'] },
  verification_limits: { isDeleted: true, equal: ['subject'], texts: ['reason'] },
  widget_sessions: {
    isDeleted: true,
    equal: ['destination'],
    texts: ['origin'],
    words: ['language', 'channel_type', 'state'],
    opaque: ['key_hash', 'secret_hash', 'widget_id'],
    others: { client_address: ADDRESS, network: ADDRESS },
  },
  captcha_uses: { opaque: ['use_hash'] },
  widget_errors: {
    isDeleted: true,
    equal: ['destination'],
    texts: ['reason', 'origin'],
    opaque: ['widget_id'],
  },

  traffic_hours: { words: ['channel_type', 'traffic_type'] },
  closed_traffic_hours: { words: ['channel_type', 'traffic_type'] },
  audit_entries: {
    texts: ['actor', 'agent', 'request_id', 'subject_id', 'subject_name'],
    json: ['before', 'after'],
    words: ['actor_kind', 'what', 'subject_kind'],
    others: { address: ADDRESS },
  },
}

/** The columns that are searched, and changed where they name the number. */
export const searchedIn = ({ equal = [], texts = [], json = [] }: TableRule): string[] => [...equal, ...texts, ...json]
