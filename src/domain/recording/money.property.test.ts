import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { formatMoney, type Money, money } from '../../base/money.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, anApprovedSender, aPartner, aSender, type TestPartner } from '../../testing/factories.ts'
import { abandonedLeases, runnableLanes } from '../../testing/lanes.ts'
import { createModel, type Model, type ModelMessage, type News, type Rule } from '../../testing/money-model.ts'
import { aDispatch, billingZone, start, stop, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { updateCompany } from '../companies/companies.ts'
import type { Recipient } from '../dispatches/dispatch.ts'
import { listDispatches } from '../dispatches/reading.ts'
import { addMessages } from '../dispatches/writing.ts'
import { type Lease, runsOf } from '../lanes/lane.ts'
import { takeChunk, takeOver } from '../lanes/lanes.ts'
import { closeLease, returnExpiredLeases } from '../leases/leases.ts'
import { chargeDueFees } from '../ledger/fees.ts'
import { correctBalance, setBilling, topUp } from '../ledger/ledger.ts'
import { listStatements, statementOf } from '../ledger/statements.ts'
import { type Brand, brands } from '../numbering/brand.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { importTariffs } from '../pricing/imports.ts'
import { approveSender } from '../senders/moderation.ts'
import { verifyTraffic } from '../statistics/verify.ts'
import { recordStatusReports } from './recording.ts'

/**
 * Random lives of a company, played on the real verbs and beside them in a slow exact model. With any interleaving,
 * both have the same balance, reservation, months, prices, statuses and counters after every single step.
 */

const RUNS = Number(process.env.TIDINGS_TEST_RUNS ?? 40)
const STEPS = 50

const db = useDatabase()
let numbering: Numbering
let partner: TestPartner

/** Invented, and small enough that steps are crossed all the time. */
const rules: Record<Brand, Rule> = {
  MTS: { model: 'FIXED', steps: [{ from: 0, price: money('2.5'), pack: 0n }] },
  BEELINE: {
    model: 'SCALED',
    steps: [
      { from: 1, price: money('3.0001'), pack: 0n },
      { from: 3, price: money('2.5'), pack: 0n },
      { from: 5, price: money('3.3333'), pack: 0n },
      { from: 10, price: money('0.9'), pack: 0n },
    ],
  },
  MEGAFON: {
    model: 'MAU',
    steps: [
      { from: 1, price: money('1.2'), pack: money('10') },
      { from: 3, price: money('1.3'), pack: money('20.5') },
      { from: 5, price: money('1'), pack: money('40') },
      { from: 10, price: money('0.5'), pack: money('80') },
    ],
  },
  TELE2: {
    model: 'MAU',
    steps: [
      { from: 1, price: money('0.1'), pack: money('0.3') },
      { from: 2, price: money('0.1'), pack: money('0.7') },
      { from: 4, price: money('0.05'), pack: money('1.1') },
    ],
  },
}

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  partner = await aPartner(db.sql)
  const rows = brands.map(brand => ({
    senderType: 'COMMON',
    brand,
    pricingModel: rules[brand].model,
    steps: rules[brand].steps.map(({ from, price, pack }) => ({
      from,
      price: decimal(price),
      priceMauBatch: rules[brand].model === 'MAU' ? decimal(pack) : null,
    })),
  }))
  await importTariffs(db.sql, partner.login, rows)
})

const decimal = formatMoney

// The actions ---------------------------------------------------------------------------------------------------

/** One of a list that is not known yet: its place is taken modulo the length. */
const pick = fc.nat(1000)
const picks = (most: number) => fc.array(pick, { minLength: 1, maxLength: most })

const recipient = fc.record({
  brand: fc.constantFrom(...brands),
  person: fc.nat(7),
  parts: fc.constantFrom(1, 1, 1, 2, 3),
  bad: fc.integer({ min: 0, max: 9 }).map(n => n === 0),
})
const recipients = fc.array(recipient, { minLength: 1, maxLength: 9 })
const budget = fc.option(fc.integer({ min: 0, max: 200 }), { freq: 3 })
/** Every life begins with something to do, and mostly with a budget for it. */
const first = fc.record({ recipients: fc.array(recipient, { minLength: 3, maxLength: 12 }), budget })
const outcome = fc.constantFrom('accepted', 'accepted', 'unknown', 'refused', 'delivered')
const end = fc.constantFrom('DELIVERED', 'DELIVERED', 'FAILED')
const minutes = fc.nat(30)

const happening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create'), recipients }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('append'), dispatch: pick, recipients }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('start'), dispatch: pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('stop'), dispatch: pick }) },
  { weight: 7, arbitrary: fc.record({ kind: fc.constant('take'), lane: pick, size: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('outcomes'),
      lease: pick,
      outcomes: fc.array(fc.tuple(outcome, minutes), { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('receipts'),
      receipts: fc.array(fc.tuple(pick, end, minutes), { minLength: 1, maxLength: 8 }),
      twice: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('late outcomes'), messages: picks(4), outcome }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('close'), lease: pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('crash'), lease: pick, all: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('take over'), lease: pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('strand') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wake up'), lease: pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('time'), hours: fc.constantFrom(1, 20, 9 * 24, 31 * 24) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('edge of the month'), before: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('budget'),
      budget: budget,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('top up'), amount: fc.integer({ min: 1, max: 90_0000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('correct'), amount: fc.integer({ min: -90_0000, max: 90_0000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('billing'), prepaid: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fees') }) },
)

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

test('any life of a company is billed to the kopeck', async () => {
  await fc.assert(
    fc.asyncProperty(
      first,
      fc.array(happening, { maxLength: STEPS, size: 'max' }),
      async ({ recipients, budget }, happenings) => {
        const life = await aLife()
        await create(life, recipients)
        await live(life, { kind: 'budget', budget })
        await startOrNot(life, one([...life.model.dispatches.keys()], 0))
        for (const [index, what] of happenings.entries()) {
          await live(life, what)
          await compare(life)
          if (index % 7 === 6) await verify(life)
        }
        await bringToAnEnd(life)
      },
    ),
    { numRuns: RUNS },
  )
})

// A life ------------------------------------------------------------------------------------------------------------

const FEE = money('7.77')

type Life = World & {
  model: Model
  now: Date
  /** Leases of this engine, and of an engine that crashed or was frozen. */
  hands: Lease[]
  crashed: Lease[]
}

async function aLife(): Promise<Life> {
  const now = new Date('2026-07-10T12:00:00Z')
  const companyId = await aCompany(db.sql, partner)
  const senders = []
  for (const brand of brands) senders.push(await anApprovedSender(db.sql, companyId, { brand }))
  const paid = await aSender(db.sql, companyId, { commonType: 'PROMO', brand: 'MTS' })
  await approveSender(db.sql, paid.senderId, () => FEE, now)
  return { partner, companyId, senders, model: createModel(rules), now, hands: [], crashed: [] }
}

async function live(life: Life, what: Happening) {
  switch (what.kind) {
    case 'create':
      return create(life, what.recipients)
    case 'append':
      return append(life, one([...life.model.dispatches.keys()], what.dispatch), what.recipients)
    case 'start':
      return startOrNot(life, one([...life.model.dispatches.keys()], what.dispatch))
    case 'stop':
      return stopOrNot(life, one([...life.model.dispatches.keys()], what.dispatch))
    case 'take':
      return take(life, what.lane, what.size)
    case 'outcomes':
      return tellOutcomes(life, one(life.hands, what.lease), what.outcomes)
    case 'receipts':
      return tellReceipts(life, what.receipts, what.twice)
    case 'late outcomes':
      return tellLate(life, what.messages, what.outcome)
    case 'close':
      return close(life, one(life.hands, what.lease))
    case 'crash':
      return crash(
        life,
        what.all ? [...life.hands] : life.hands.slice(what.lease % (life.hands.length || 1)).slice(0, 1),
      )
    case 'take over':
      return takeOne(life, what.lease)
    case 'strand':
      return strand(life)
    case 'wake up':
      return wakeUp(life, one(life.crashed, what.lease))
    case 'time':
      life.now = new Date(life.now.getTime() + what.hours * 3600_000)
      return
    case 'edge of the month':
      life.now = edgeAfter(life.now, what.before)
      return
    case 'budget':
      return setBudget(life, what.budget === null ? null : money(what.budget))
    case 'top up':
      life.model.terms.balance += BigInt(what.amount)
      return topUp(db.sql, life.companyId, { amount: BigInt(what.amount) }, { billingZone, now: life.now })
    case 'correct':
      return correctOrNot(life, BigInt(what.amount))
    case 'billing':
      life.model.terms.prepaid = what.prepaid
      return setBilling(db.sql, life.companyId, what.prepaid ? 'PREPAID' : 'POSTPAID')
    case 'fees':
      return chargeFees(life)
  }
}

const one = <T>(list: T[], place: number): T | undefined => list[place % list.length]

/** Half an hour before, or after, the next first midnight of a month in Moscow. */
function edgeAfter(now: Date, before: boolean): Date {
  const month = new Date(now.getTime() + 3 * 3600_000)
  const midnight = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1, -3)
  return new Date(midnight + (before ? -1 : 1) * 1800_000)
}

/** Moscow is three hours ahead of UTC, all year. */
const monthOfModel = (moment: Date) => `${new Date(moment.getTime() + 3 * 3600_000).toISOString().slice(0, 7)}-01`

type Person = { brand: Brand; person: number; parts: number; bad: boolean }

const prefixes: Record<Brand, string> = { MTS: '7916', BEELINE: '7903', MEGAFON: '7926', TELE2: '7900' }
const numberOf = ({ brand, person, bad }: Person) =>
  bad ? '12' : `${prefixes[brand]}00000${String(person).padStart(2, '0')}`
const texts = ['', 'Hello', 'x'.repeat(200), 'x'.repeat(400)]

const recipientsOf = (people: Person[]): Recipient[] =>
  people.map(person => ({ destination: numberOf(person), customText: texts[person.parts]! }))

async function create(life: Life, people: Person[]) {
  const dispatchId = await aDispatch(db.sql, numbering, life, recipientsOf(people))
  life.model.dispatches.set(dispatchId, { status: 'CREATED', holds: new Map() })
  await learnMessages(life, dispatchId, people)
}

async function append(life: Life, dispatchId: number | undefined, people: Person[]) {
  if (dispatchId === undefined) return
  const request = { partner, dispatchId, recipients: recipientsOf(people), once: undefined }
  const open = life.model.dispatches.get(dispatchId)!.status === 'CREATED'
  expect(await succeeds(addMessages(db.sql, numbering, request))).toBe(open)
  if (open) await learnMessages(life, dispatchId, people)
}

/** Keys and places are the database's to give; prices and parts are the model's own. */
async function learnMessages({ model, companyId }: Life, dispatchId: number, people: Person[]) {
  const good = people.filter(({ bad }) => !bad)
  const rows = await db.sql<{ uuid: string; laneId: number; seq: number; destination: string }[]>`
    select message_uuid as uuid, lane_id, seq, destination from messages
    where company_id = ${companyId} and dispatch_id = ${dispatchId} and lane_id is not null order by dispatch_position`
  const added = rows.slice(rows.length - good.length)
  for (const [index, person] of good.entries()) {
    const { brand, parts } = person
    expect(added[index]!.destination).toBe(numberOf(person))
    let highest = 0n
    for (const step of rules[brand].steps) if (step.price > highest) highest = step.price
    const price = highest * BigInt(parts)
    const fresh = { status: 'CREATED', final: null, touched: false } as const
    model.messages.set(added[index]!.uuid, { ...added[index]!, ...fresh, dispatchId, brand, parts, price })
  }
}

async function startOrNot(life: Life, dispatchId: number | undefined) {
  if (dispatchId === undefined) return
  const { model, now } = life
  const before = model.dispatches.get(dispatchId)!.status
  const expected = model.start(dispatchId, monthOfModel(now))
  expect(await succeeds(start(db.sql, life, dispatchId, now))).toBe(expected === 'done')
  if (expected === 'refused' || before === 'STARTED' || model.terms.budget === null) return
  const [row] = await db.sql<{ taken: Money }[]>`
    select a.reserved + coalesce(m.spent, 0) as taken from accounts a
    left join account_months m on m.company_id = a.company_id and m.month = ${monthOfModel(now)}
    where a.company_id = ${life.companyId}`
  expect(row!.taken <= model.terms.budget).toBe(true)
}

async function stopOrNot(life: Life, dispatchId: number | undefined) {
  if (dispatchId === undefined) return
  const expected = life.model.stop(dispatchId)
  expect(await succeeds(stop(db.sql, life, dispatchId, life.now))).toBe(expected === 'done')
}

/** Only a refusal in the words of the domain is a "no"; anything else is a bug. */
async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

async function take(life: Life, place: number, size: number) {
  const lanes = (await runnableLanes(db.sql, new Date())).filter(({ companyId }) => companyId === life.companyId)
  const lane = one(lanes, place)
  const lease = lane && (await takeChunk(db.sql, lane, size, randomUUID()))
  if (lease) hold(life, lease)
}

function hold({ model, hands }: Life, lease: Lease) {
  hands.push(lease)
  model.leases.set(lease.leaseId, lease)
  for (const message of messagesOf(model, lease)) message.touched = true
}

const messagesOf = (model: Model, { laneId, firstSeq, nextSeq }: Lease) =>
  [...model.messages.values()].filter(
    message => message.laneId === laneId && message.seq >= firstSeq && message.seq < nextSeq,
  )

async function tellOutcomes(life: Life, lease: Lease | undefined, outcomes: [string, number][]) {
  if (!lease) return
  const waiting = messagesOf(life.model, lease).filter(({ status }) => status === 'CREATED')
  const told = waiting.slice(0, outcomes.length)
  await tell(
    life,
    told.map((message, index) => newsOf(message, ...outcomes[index]!, life.now)),
  )
}

function newsOf({ uuid }: ModelMessage, outcome: string, minutes: number, now: Date): News {
  const at = new Date(now.getTime() + minutes * 60_000)
  if (outcome === 'refused') return { uuid, refused: { at, errorCode: 456 } }
  return outcome === 'delivered' ? { uuid, sentAt: at, final: { status: 'DELIVERED', at } } : { uuid, sentAt: at }
}

async function tell(life: Life, news: News[], times = 1) {
  const month = monthOfModel(life.now)
  for (let time = 0; time < times; time++) life.model.record(news, month)
  const record = () => recordStatusReports(db.sql, life.companyId, news, { billingZone, now: life.now })
  await Promise.all(Array.from({ length: times }, record))
}

const touched = ({ model }: Life) => [...model.messages.values()].filter(message => message.touched)

/** Receipts of operators: in time, early, late, repeated or contradictory. */
async function tellReceipts(life: Life, receipts: [number, 'DELIVERED' | 'FAILED', number][], twice: boolean) {
  const known = touched(life)
  if (known.length === 0) return
  const news = receipts.map(
    ([place, status, minutes]): News => ({
      uuid: one(known, place)!.uuid,
      final: { status, at: new Date(life.now.getTime() + minutes * 60_000) },
    }),
  )
  await tell(life, news, twice ? 2 : 1)
}

/** Of an engine that was frozen: its leases are long gone, and what it says is still true. */
async function tellLate(life: Life, places: number[], outcome: string) {
  const known = touched(life)
  if (known.length === 0) return
  await tell(
    life,
    places.map(place => newsOf(one(known, place)!, outcome, 0, life.now)),
  )
}

async function close(life: Life, lease: Lease | undefined) {
  if (!lease) return
  life.hands.splice(life.hands.indexOf(lease), 1)
  life.model.leases.delete(lease.leaseId)
  await closeLease(db.sql, lease, leftOf(life, lease), { billingZone, now: life.now })
}

function leftOf(life: Life, lease: Lease) {
  const left = messagesOf(life.model, lease).filter(({ status }) => status === 'CREATED')
  return runsOf(left.map(({ seq }) => ({ seq, attempts: lease.attempts, dueAt: life.now })))
}

/** The engine crashes and its lease expires. */
async function crash(life: Life, leases: Lease[]) {
  for (const lease of leases) {
    life.hands.splice(life.hands.indexOf(lease), 1)
    life.crashed.push(lease)
    await db.sql`
      update leases set claimed_until = '2000-01-01' where company_id = ${life.companyId} and lease_id = ${lease.leaseId}`
  }
}

async function takeOne(life: Life, place: number) {
  const abandoned = (await abandonedLeases(db.sql, new Date('2099-01-01'))).filter(
    ({ companyId }) => companyId === life.companyId,
  )
  const lease = one(abandoned, place)
  const taken = lease && (await takeOver(db.sql, lease, randomUUID()))
  if (taken) hold(life, taken)
}

/** No worker takes over leases of stopped dispatches, so their leases are returned. */
async function strand(life: Life) {
  await returnExpiredLeases(db.sql, { billingZone, now: life.now })
  for (const { leaseId, laneId } of life.crashed) {
    const [message] = [...life.model.messages.values()].filter(candidate => candidate.laneId === laneId)
    const open = life.model.dispatches.get(message!.dispatchId)!.status === 'STARTED'
    const held = life.hands.some(lease => lease.leaseId === leaseId)
    if (!open && !held) life.model.leases.delete(leaseId)
  }
}

/** A frozen engine closes what it believes to hold: its token decides. */
async function wakeUp(life: Life, lease: Lease | undefined) {
  if (!lease) return
  const [mine] = await db.sql`
    select from leases
    where company_id = ${life.companyId} and lease_id = ${lease.leaseId} and token = ${lease.token}`
  life.crashed.splice(life.crashed.indexOf(lease), 1)
  if (mine) life.model.leases.delete(lease.leaseId)
  await closeLease(db.sql, lease, leftOf(life, lease), { billingZone, now: life.now })
}

async function setBudget(life: Life, budget: Money | null) {
  life.model.terms.budget = budget
  await updateCompany(db.sql, partner, life.companyId, { budget })
}

async function correctOrNot({ model, companyId, now }: Life, amount: Money) {
  const isOverdrawn = model.terms.prepaid && amount < 0n && model.terms.balance + amount < model.reserved()
  const isGood = amount !== 0n && !isOverdrawn
  const given = { amount, reason: 'A zero too many' }
  const work = db.sql.begin(tx => correctBalance(tx, companyId, given, { billingZone, now }))
  expect(await succeeds(work)).toBe(isGood)
  if (isGood) model.terms.balance += amount
}

async function chargeFees({ model, now }: Life) {
  for (const moment of [new Date(now.getTime() - 24 * 3600_000), now]) model.chargeFee(monthOfModel(moment), FEE)
  await chargeDueFees(db.sql, { billingZone, now })
}

// The comparison ----------------------------------------------------------------------------------------------------

async function compare({ model, companyId }: Life) {
  const [[account], months, messages, { items }] = await Promise.all([
    db.sql`select balance, reserved from accounts where company_id = ${companyId}`,
    db.sql`select month::text, spent from account_months where company_id = ${companyId} and spent > 0`,
    db.sql`
      select message_uuid as uuid, status, final_price from messages where company_id = ${companyId} and lane_id is not null
      order by message_uuid`,
    listDispatches(db.sql, companyId, undefined, 1, 1000),
  ])
  expect(account).toEqual({ balance: model.terms.balance, reserved: model.reserved() })
  expect(Object.fromEntries(months.map(({ month, spent }) => [month, spent]))).toEqual(Object.fromEntries(model.spent))
  expect(messages.map(row => [row.uuid, row.status, row.finalPrice])).toEqual(
    [...model.messages.values()].map(({ uuid, status, final }) => [uuid, status, final]).sort(),
  )
  const seen = items.map(({ dispatchId, status, messages, parts }) => [dispatchId, status, messages, parts])
  expect(seen.sort()).toEqual([...model.dispatches.keys()].map(id => dispatchOfModel(model, id, items)).sort())
}

function dispatchOfModel(model: Model, dispatchId: number, items: { dispatchId: number; messageCount: number }[]) {
  const messages = model.of(dispatchId)
  const { messageCount } = items.find(item => item.dispatchId === dispatchId)!
  const rejected = messageCount - messages.length
  const count = (of: (message: ModelMessage) => number, ...statuses: string[]) =>
    messages.filter(({ status }) => statuses.includes(status)).reduce((sum, message) => sum + of(message), 0)
  const counts = (of: (message: ModelMessage) => number, refused: number) => ({
    total: messages.reduce((sum, message) => sum + of(message), 0) + refused,
    delivered: count(of, 'DELIVERED'),
    failed: count(of, 'FAILED') + refused,
    pending: count(of, 'CREATED', 'SENT'),
  })
  const { status } = model.dispatches.get(dispatchId)!
  return [dispatchId, status, counts(() => 1, rejected), counts(({ parts }) => parts, 0)]
}

const verify = async ({ companyId }: Life) => {
  expect(await verifyLedger(db.sql, { companyId })).toEqual([])
  expect(await verifyTraffic(db.sql, { companyId })).toEqual([])
}

/** When everything is final, nothing is reserved, and every dispatch is COMPLETED. */
async function bringToAnEnd(life: Life) {
  const { model } = life
  await setBudget(life, null)
  await setBilling(db.sql, life.companyId, 'POSTPAID')
  model.terms.prepaid = false
  for (const [dispatchId, { status }] of model.dispatches)
    if (status !== 'COMPLETED') await startOrNot(life, dispatchId)
  await compare(life)
  const news = [...model.messages.values()].map((message, index): News => {
    const status = index % 3 === 0 ? 'FAILED' : 'DELIVERED'
    return { uuid: message.uuid, final: { status, at: new Date(life.now.getTime() - index * 1000) } }
  })
  if (news.length > 0) await tell(life, news, 2)
  await compare(life)
  await verify(life)
  await compareStatements(life)
  expect(model.reserved()).toBe(0n)
  expect([...model.dispatches.values()].every(({ status }) => status === 'COMPLETED')).toBe(true)
}

/** Every statement adds up to what the model spent in the month, by channel and operator and by tariff. */
async function compareStatements({ model, companyId, now }: Life) {
  const months = await listStatements(db.sql, companyId, monthOfModel(now))
  expect(months[0]?.closing ?? 0n).toBe(model.terms.balance)
  for (const { month } of months) {
    const statement = await statementOf(db.sql, companyId, month)
    const { spent, opening, toppedUp, corrected, closing, channels, tariffs, packages, fees, withoutDetails } =
      statement
    expect([spent, withoutDetails]).toEqual([model.spent.get(month) ?? 0n, 0n])
    expect(opening + toppedUp + corrected - spent).toBe(closing)
    expect(total(channels) + packages + fees.amount).toBe(spent)
    expect(total(tariffs) + tariffs.reduce((sum, tariff) => sum + tariff.packages, 0n) + fees.amount).toBe(spent)
    const lists = [statement.topUps, statement.corrections, fees.lines]
    expect(lists.map(total)).toEqual([toppedUp, corrected, fees.amount])
  }
}

const total = (lines: { amount: Money }[]) => lines.reduce((sum, { amount }) => sum + amount, 0n)
