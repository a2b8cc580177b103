import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import type { AuditAction } from '../../domain/audit-log/entry.ts'
import { createDispatch } from '../../domain/dispatches/creating.ts'
import { topUp } from '../../domain/ledger/ledger.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { createTemplate } from '../../domain/templates/templates.ts'
import { printedBy } from '../../testing/command-line.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner, aSender, numberOf, type TestPartner } from '../../testing/factories.ts'
import { commands } from '../all-commands.ts'

const db = useDatabase()
let folder: string
let partner: TestPartner
let companyId: number
let approved: number

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidings-audit-'))
  partner = await aPartner(db.sql)
  companyId = await aCompany(db.sql, partner)
  approved = (await anApprovedSender(db.sql, companyId)).senderId
  await topUp(db.sql, companyId, { amount: money('100.00') }, { billingZone: 'Europe/Moscow', now: new Date() })
})

afterAll(() => rm(folder, { recursive: true }))

const run = (...words: (string | number)[]) =>
  printedBy(words.map(String), {
    DATABASE_URL: db.url,
    TIDINGS_SECRET: 'a secret of the tests, long enough',
    TIDINGS_PASSWORD_COST: '14',
  })
const answerOf = async (...words: (string | number)[]) => JSON.parse(await run(...words, '--json'))

async function file(name: string, content: string): Promise<string> {
  await writeFile(join(folder, name), content)
  return join(folder, name)
}

const secrets = ['correct horse battery', 'another horse battery', 'captcha-secret-1', 'smpp-pass']
const password = (text = secrets[0]!) => file('password', text)

const reading = [
  ...['serve', 'api', 'engine', 'migrate', 'config', 'smsc', 'health', 'version'],
  ...['database export', 'database import', 'database upgrade', 'numbering export', 'ported export'],
  ...['partner list', 'person list', 'staff list', 'company list', 'company show', 'key list', 'blacklist list'],
  ...['document list', 'document save', 'sender list', 'template list', 'audit list', 'tariff list', 'ledger verify'],
  ...['statistics verify', 'statistics rebuild'],
  ...['verifier list', 'verifier show', 'verifier stats', 'verifier blocked'],
  ...['widget list', 'widget show', 'widget errors', 'widget stats', 'gateway list', 'month list'],
  ...['dispatch list', 'dispatch show', 'dispatch report', 'message find', 'message show'],
  ...['simulator outbox', 'simulator inbound', 'simulator widget', 'callback list', 'callback attempts'],
  ...['inbound rule list', 'inbound center list'],
]

const ofCompany = () => ['--company', companyId] as const

async function aDispatch(): Promise<number> {
  const unset = { schedule: undefined, callbackUrl: undefined, callbackEvents: undefined }
  const dispatch = { name: 'Autumn', channelType: 'SMS' as const, text: 'Hello', senderIds: [approved], ...unset }
  const recipients = [{ destination: numberOf.MTS }]
  const request = { partner, companyId, dispatch, recipients, once: undefined }
  return (await createDispatch(db.sql, await loadNumbering(db.sql), request)).dispatchId
}

async function aTemplate(): Promise<number> {
  const validFrom = new Date('2026-01-01T00:00:00Z')
  const wanted = { channelType: 'SMS', trafficType: 'AUTHORIZE', senderId: approved, content: null } as const
  const { templateId } = await db.sql.begin(tx =>
    createTemplate(
      tx,
      companyId,
      { ...wanted, pattern: `Hello ${Math.random()}`, validFrom, validTo: null },
      new Date(),
    ),
  )
  await db.sql`update templates set status = 'PRE_REVIEW' where template_id = ${templateId}`
  return templateId
}

let names = 0
async function aSenderInReview(): Promise<number> {
  const { senderId } = await aSender(db.sql, companyId, { senderName: `NAME${++names}` })
  await db.sql`update senders set status = 'PRE_REVIEW' where sender_id = ${senderId}`
  return senderId
}

/** In this order: later ones work on what earlier ones made. */
const changing: [command: string, what: AuditAction, words: () => Promise<(string | number)[]>][] = [
  ['partner create', 'partner.created', async () => ['--login', 'vasilek', '--password-file', await password()]],
  [
    'partner password',
    'partner.password_changed',
    async () => ['--login', 'vasilek', '--password-file', await password(secrets[1])],
  ],
  ['partner disable', 'partner.disabled', async () => ['vasilek']],
  ['partner enable', 'partner.enabled', async () => ['vasilek']],
  ['partner unlock', 'partner.unlocked', async () => ['vasilek']],
  [
    'staff create',
    'staff.created',
    async () => ['--login', 'moderator1', '--role', 'moderator', '--password-file', await password()],
  ],
  [
    'staff password',
    'staff.password_changed',
    async () => ['--login', 'moderator1', '--password-file', await password(secrets[1])],
  ],
  ['person invite', 'person.invited', async () => [...ofCompany(), '--login', 'anna@example.com', '--role', 'sender']],
  ['person link', 'person.link_renewed', async () => ['anna@example.com']],
  ['person role', 'person.role_changed', async () => ['anna@example.com', '--role', 'viewer']],
  ['person deactivate', 'person.deactivated', async () => ['anna@example.com']],
  ['person activate', 'person.activated', async () => ['anna@example.com']],
  [
    'company create',
    'company.created',
    async () => ['--partner', 'vasilek', '--name', 'Vasilek', '--inn', '7700000001'],
  ],
  ['company disable', 'company.disabled', async () => ofCompany().slice()],
  ['company enable', 'company.enabled', async () => ofCompany().slice()],
  ['company topup', 'company.topped_up', async () => [...ofCompany(), '--amount', '12.50']],
  [
    'company correct',
    'company.balance_corrected',
    async () => [...ofCompany(), '--take', '2.50', '--reason', 'Typed twice'],
  ],
  ['company set', 'company.changed', async () => [...ofCompany(), '--rate', '10']],
  ['blacklist add', 'blacklist.added', async () => ['79160000001', ...ofCompany()]],
  ['blacklist remove', 'blacklist.removed', async () => ['79160000001', ...ofCompany()]],
  ['key create', 'key.created', async () => [...ofCompany(), '--type', 'MESSAGE']],
  ['key set', 'key.changed', async () => ['--key', await aKey(), '--addresses', '192.0.2.1']],
  ['key deactivate', 'key.deactivated', async () => ['--key', await aKey()]],
  ['key activate', 'key.activated', async () => ['--key', await aKey()]],
  ['key reissue', 'key.reissued', async () => ['--key', await aKey()]],
  ['dispatch start', 'dispatch.started', async () => [await aDispatch()]],
  ['dispatch stop', 'dispatch.stopped', async () => [await startedDispatch()]],
  ['sender approve', 'sender.approved', async () => ['--sender', await aSenderInReview()]],
  ['sender reject', 'sender.rejected', async () => ['--sender', await aSenderInReview()]],
  ['sender deny', 'sender.denied', async () => ['--sender', await aSenderInReview()]],
  ['sender set', 'sender.changed', async () => ['--sender', approved, '--rate', '5']],
  ['template approve', 'template.approved', async () => ['--template', await aTemplate()]],
  ['template reject', 'template.rejected', async () => ['--template', await aTemplate()]],
  ['template deny', 'template.denied', async () => ['--template', await aTemplate()]],
  ['verifier create', 'verifier.created', async () => [...ofCompany(), '--name', 'Codes']],
  [
    'verifier set',
    'verifier.changed',
    async () => ['--gateway', await aVerifier('API'), '--length', '4', '--android-hash', 'FA+9qCX9VSu'],
  ],
  ['verifier delete', 'verifier.deleted', async () => ['--gateway', await aVerifier('API')]],
  ['verifier unblock', 'verifier.unblocked', async () => [...ofCompany(), '--subject', await aBlock()]],
  ['widget create', 'widget.created', async () => [...ofCompany(), '--origins', 'https://shop.example']],
  [
    'widget set',
    'widget.changed',
    async () => [
      ...['--widget', await aVerifier('WIDGET'), '--captcha', 'recaptcha'],
      ...['--captcha-site-key', 'site-1', '--captcha-secret', secrets[2]!],
    ],
  ],
  ['widget delete', 'widget.deleted', async () => ['--widget', await aVerifier('WIDGET')]],
  [
    'tariff import',
    'tariffs.imported',
    async () => [
      await file(
        'tariffs.csv',
        'senderType,brand,trafficType,pricingModel,from,price,priceMauBatch\nCOMMON,MTS,,FIXED,0,3.15,\n',
      ),
    ],
  ],
  [
    'numbering import',
    'numbering.imported',
    async () => [
      await file(
        'register.csv',
        'АВС/ DEF;От;До;Емкость;Оператор;Регион;Территория ГАР;ИНН\n900;0000000;0000009;10;ООО "Т2 Мобайл";г. Москва;;7743895280\n',
      ),
    ],
  ],
  ['ported import', 'ported_numbers.imported', async () => [await file('ported.csv', '79160000001;TELE2\n')]],
  [
    'gateway add',
    'gateway.added',
    async () => [
      ...[
        '--channel',
        'SMS',
        '--connector',
        'smpp',
        '--name',
        'north',
        '--set',
        'host=127.0.0.1',
        '--set',
        'port=2775',
      ],
      ...['--set', 'systemId=us', '--set', `password=${secrets[3]}`],
    ],
  ],
  [
    'gateway set',
    'gateway.changed',
    async () => ['--gateway', 'north', '--rate', '7', '--set', `password=${secrets[3]}`],
  ],
  ['gateway pause', 'gateway.paused', async () => ['--gateway', 'north']],
  ['gateway drain', 'gateway.drain_started', async () => ['--gateway', 'north', '--hours', '2']],
  ['gateway resume', 'gateway.resumed', async () => ['--gateway', 'north']],
  ['gateway remove', 'gateway.removed', async () => ['--gateway', 'north']],
  ['callback replay', 'callback.replayed', async () => [...ofCompany(), '--callback', await aCallback()]],
  ['callback secret', 'callback.secret_replaced', async () => [...ofCompany(), '--new']],
  [
    'inbound rule add',
    'inbound_rule.added',
    async () => [
      ...ofCompany(),
      '--channel',
      'WHATSAPP',
      '--url',
      `https://user:${secrets[0]!.replaceAll(' ', '-')}@shop.example/in`,
    ],
  ],
  ['inbound rule remove', 'inbound_rule.removed', async () => [...ofCompany(), '--rule', await aRule()]],
  ['inbound center add', 'traffic_center.added', async () => [...ofCompany(), '--name', 'North']],
  ['inbound center default', 'traffic_center.made_default', async () => [...ofCompany(), '--name', 'North']],
  [
    'gateway test',
    'gateway.tested',
    async () => {
      await run('gateway', 'add', '--channel', 'SMS', '--connector', 'simulator', '--name', 'play')
      return ['--gateway', 'play', '--to', '79160000001', '--sender', 'ROMASHKA', '--text', 'Try', '--wait', '0']
    },
  ],
  [
    'month detach',
    'month.detached',
    async () => {
      await db.sql`select ensure_message_month('2020-02-01')`
      return ['--month', '2020-02']
    },
  ],
  ['erase', 'number.erased', async () => ['79169990077', '--yes']],
  [
    'audit drop',
    'audit_log.dropped',
    async () => {
      await db.sql`select ensure_audit_month('2020-02-01')`
      return ['--before', '2020-03-01']
    },
  ],
]

const lastOf = async (table: string, column: string) =>
  (await db.sql.unsafe(`select max(${column}) as id from ${table}`))[0]!.id as number
const aKey = () => lastOf('api_keys', 'key_id')
const aRule = () => lastOf('inbound_rules', 'rule_id')
const startedDispatch = () => lastOf('dispatches', 'dispatch_id')
const aVerifier = async (kind: string) =>
  (await db.sql`select verifier_id as id from verifiers where kind = ${kind} limit 1`)[0]!.id as string

async function aBlock(): Promise<string> {
  await db.sql`
    insert into verification_limits (company_id, subject, since, count, last_at) values (${companyId}, 'company', now(), 1, now())`
  return 'company'
}

async function aCallback(): Promise<number> {
  const [row] = await db.sql`
    insert into callbacks (company_id, receiver, url, api, events, event_count, status, happened_at, expires_at)
    values (${companyId}, 'shop.example', 'https://shop.example', 'partner', '[]', 0, 'EXPIRED', now(), now())
    returning callback_id as id`
  return row!.id
}

describe('every command that changes something', () => {
  test('is known to this test: it stands in one of the two lists', () => {
    const known = [...changing.map(([name]) => name), ...reading, 'send']
    expect(commands.map(({ name }) => name).sort()).toEqual(known.sort())
  })

  test.each(changing)('%s writes %s, in the name of the system user', async (command, what, words) => {
    const given = await words()
    const last = (await lastOf('audit_entries', 'entry_id')) ?? 0
    await run(...command.split(' '), ...given)
    const written = await db.sql`select what, actor_kind, actor, address from audit_entries where entry_id > ${last}`
    const { username } = userInfo()
    expect(written).toMatchObject([{ what, actorKind: 'OPERATOR', address: null }])
    expect(written[0]!.actor).toMatch(new RegExp(`\\b${username}$`))
  })

  test('keeps no secret that was used', async () => {
    const [row] = await db.sql`select string_agg(e::text, ' ') as everything from audit_entries e`
    for (const secret of secrets) {
      expect(row!.everything).not.toContain(secret)
      expect(row!.everything).not.toContain(secret.replaceAll(' ', '-'))
    }
  })
})

test('a command that fails writes nothing', async () => {
  const last = await lastOf('audit_entries', 'entry_id')
  await expect(run('person', 'role', 'anna@example.com', '--role', 'emperor')).rejects.toThrow('role')
  await expect(run('verifier', 'unblock', ...ofCompany(), '--subject', 'prefix:1')).rejects.toThrow('No codes')
  expect(await lastOf('audit_entries', 'entry_id')).toBe(last)
})

test('a command whose entry cannot be written changes nothing', async () => {
  await db.sql`alter table audit_entries add constraint full_disk check (what <> 'company.disabled') not valid`
  await expect(run('company', 'disable', ...ofCompany())).rejects.toThrow('full_disk')
  await db.sql`alter table audit_entries drop constraint full_disk`
  expect(await answerOf('company', 'show', ...ofCompany())).toMatchObject({ status: 'ACTIVE' })
})

describe('audit list', () => {
  test('lists changes by company, person, kind and time', async () => {
    const text = await run('audit', 'list', ...ofCompany(), '--what', 'person.role_changed')
    expect(text).toMatch(/command line +person\.role_changed +person \d+ anna@example\.com/)
    expect(text).toContain('{"role":"sender"}')
    expect(await answerOf('audit', 'list', '--person', 'unknown@example.com')).toEqual([])
    expect(await answerOf('audit', 'list', '--from', '2999-01-01')).toEqual([])
    expect(await answerOf('audit', 'list', '--to', '2999-01-01', '--limit', '3')).toHaveLength(3)
  })

  test('refuses what it does not know', async () => {
    await expect(run('audit', 'list', '--what', 'nonsense')).rejects.toThrow(/--what must be one of/)
    await expect(run('audit', 'list', '--company', '99999')).rejects.toThrow('There is no company 99999')
  })

  test('audit drop refuses the last twelve months', async () => {
    await expect(run('audit', 'drop', '--before', '2999-01-01')).rejects.toThrow('last twelve months are kept')
  })
})
