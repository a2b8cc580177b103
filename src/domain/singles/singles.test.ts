import { beforeAll, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { useDatabase } from '../../testing/database.ts'
import { aSingle } from '../../testing/factories.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { setBilling, topUp } from '../ledger/ledger.ts'
import type { Acceptance, NewSingle } from '../messages/single.ts'
import { recordStatusReports } from '../recording/recording.ts'
import { verifyTraffic } from '../statistics/verify.ts'
import type { NewCode } from '../verifications/verification.ts'
import { defaultLimits } from '../verifiers/verifier.ts'
import { acceptSingles } from './singles.ts'

const db = useDatabase()
const now = new Date()
let world: World

beforeAll(async () => {
  world = await aWorld(db.sql)
})

const single = ({ senders }: World, given: Partial<NewSingle> = {}): NewSingle => aSingle(senders[0]!, given)

const accept = (of: World, singles: NewSingle[]) => acceptSingles(db.sql, of.companyId, singles, { billingZone, now })
const uuidOf = (outcome: Acceptance | undefined) => (outcome?.kind === 'accepted' ? outcome.uuid : '')
const reservedOf = async ({ companyId }: World) =>
  (await db.sql`select reserved from accounts where company_id = ${companyId}`)[0]!.reserved

test('a single message has a place in its lane and holds its price until it is final', async () => {
  const [first, other] = await accept(world, [single(world), single(world, { brandId: 2, text: 'Code 1234' })])
  const [again] = await accept(world, [single(world, { text: 'Code 5678' })])
  expect([first!.kind, other!.kind, again!.kind]).toEqual(['accepted', 'accepted', 'accepted'])
  expect(await reservedOf(world)).toBe(money('11.70'))

  const rows = await db.sql`
    select m.text, m.seq, l.open, l.tail, m.dispatch_id, m.message_uuid as uuid
    from messages m join lanes l using (company_id, lane_id)
    where m.company_id = ${world.companyId} order by m.message_uuid`
  expect(rows).toMatchObject([
    { text: 'Code 4321', seq: 0, open: true, tail: 2, dispatchId: null },
    { text: 'Code 1234', seq: 0, open: true, tail: 1, dispatchId: null },
    { text: 'Code 5678', seq: 1, open: true, tail: 2, dispatchId: null },
  ])

  const statusReports = rows.map(({ uuid }) => ({
    uuid,
    sentAt: now,
    final: { status: 'DELIVERED' as const, at: now },
  }))
  await recordStatusReports(db.sql, world.companyId, statusReports, { billingZone, now })
  expect(await reservedOf(world)).toBe(0n)
  expect(await verifyLedger(db.sql, { companyId: world.companyId })).toEqual([])
  expect(await verifyTraffic(db.sql, { companyId: world.companyId })).toEqual([])
})

test('messages that a prepaid company cannot pay for are refused, and the rest of the request is accepted', async () => {
  const prepaid = await aWorld(db.sql)
  await setBilling(db.sql, prepaid.companyId, 'PREPAID')
  await topUp(db.sql, prepaid.companyId, { amount: money('10.00') }, { billingZone, now })
  const answers = await accept(prepaid, [
    single(prepaid, { price: money('6.00') }),
    single(prepaid, { price: money('6.00') }),
    single(prepaid, { price: money('4.00') }),
  ])
  expect(answers).toMatchObject([
    { kind: 'accepted' },
    { kind: 'refused', reason: 'The balance of the company is too small' },
    { kind: 'accepted' },
  ])
  expect(await reservedOf(prepaid)).toBe(money('10.00'))
  expect(await verifyLedger(db.sql, { companyId: prepaid.companyId })).toEqual([])
  expect(await verifyTraffic(db.sql, { companyId: prepaid.companyId })).toEqual([])
})

test('a code that is refused by the limits takes nothing from the balance for the codes after it', async () => {
  const prepaid = await aWorld(db.sql)
  await setBilling(db.sql, prepaid.companyId, 'PREPAID')
  await topUp(db.sql, prepaid.companyId, { amount: money('10.00') }, { billingZone, now })
  const to = (destination: string) => single(prepaid, { destination, price: money('5.00'), code: aCode() })
  const answers = await accept(prepaid, [to('79160000001'), to('79160000001'), to('79160000002'), to('79160000003')])
  expect(answers).toMatchObject([
    { kind: 'accepted' },
    { kind: 'refused', why: 'too many', subject: 'number:79160000001' },
    { kind: 'accepted' },
    { kind: 'refused', why: 'no funds' },
  ])
  const counted = await db.sql`
    select count from verification_limits where company_id = ${prepaid.companyId} and subject = 'company'`
  expect(counted).toEqual([{ count: 2 }])
})

const aCode = (): NewCode => ({
  verifierId: 'abcdef',
  country: 'RU',
  prefix: '7916000',
  clientAddress: null,
  lifetimeSeconds: 300,
  tries: 3,
  pauseSeconds: 60,
  limits: defaultLimits,
  hashesFor: () => ['00'.repeat(32)],
})

test('the text of a client is stored unchanged, with any characters', async () => {
  const odd = 'a\tb\nc\\N\\.\rd'
  const said = { destination: odd, text: odd, senderName: odd, externalId: odd, callbackUrl: odd }
  const [kept] = await accept(world, [single(world, said)])
  const [row] = await db.sql`
    select destination, text, sender_name, external_id, callback_url
    from messages where message_uuid = ${uuidOf(kept)}`
  expect(row).toEqual(said)
})

test('messages of one request keep their own values in columns that others leave empty', async () => {
  const later = new Date(now.getTime() + 3_600_000)
  const called = { callbackUrl: 'https://shop.example/callbacks', callbackEvents: ['sent' as const] }
  const answers = await accept(world, [
    single(world, { expiresAt: later }),
    single(world, { ...called, expiresAt: later, endsEarly: true }),
    single(world, { sendAt: later, expiresAt: later, sealed: 'c0de' }),
  ])
  const rows = await db.sql`
    select callback_url, callback_events, expires_at, waits_until, send_at, sealed, lane_id is null as has_no_lane
    from messages where message_uuid = any(${answers.map(uuidOf)}::uuid[]) order by message_uuid`
  const plain = {
    callbackUrl: null,
    callbackEvents: null,
    expiresAt: null,
    waitsUntil: later,
    sendAt: null,
    sealed: null,
    hasNoLane: false,
  }
  expect(rows).toEqual([
    plain,
    { ...plain, ...called, expiresAt: later, waitsUntil: null },
    { ...plain, sendAt: later, sealed: Buffer.from('c0de', 'hex'), hasNoLane: true },
  ])
})

test('a code of a short link that is already in use is replaced everywhere in the message', async () => {
  const link = { code: 'Taken00001', url: 'https://shop.example/a' }
  const free = { code: 'Free000001', url: 'https://shop.example/b' }
  await accept(world, [single(world, { links: [link] })])
  const says = 'a http://localhost/s/Taken00001, b http://localhost/s/Free000001'
  const template = { templateId: 'sale:en', parameters: [says] }
  const content = { contentType: 'text' as const, text: says, template }
  const [kept] = await accept(world, [single(world, { text: says, content, links: [link, free] })])
  const [row] = await db.sql`
    select m.text, m.content, l.code from messages m join short_links l on l.message_uuid = m.message_uuid and l.url = ${link.url}
    where m.message_uuid = ${uuidOf(kept)}`
  const correct = says.replace(link.code, row!.code)
  expect(correct).not.toBe(says)
  expect(row!.text).toBe(correct)
  expect(row!.content).toEqual({ ...content, text: correct, template: { ...template, parameters: [correct] } })
})

test('a hundred concurrent messages never hold more than the budget, and have consecutive places in their lane', async () => {
  const limited = await aWorld(db.sql, { budget: '100.00' })
  const answers = await Promise.all(Array.from({ length: 100 }, () => accept(limited, [single(limited)])))
  expect(answers.flat().filter(({ kind }) => kind === 'accepted')).toHaveLength(25)
  expect(await reservedOf(limited)).toBe(money('97.50'))
  const places = await db.sql`select seq from messages where company_id = ${limited.companyId} order by seq`
  expect(places.map(({ seq }) => seq)).toEqual(Array.from({ length: 25 }, (_, i) => i))
})
