import { setTimeout as pause } from 'node:timers/promises'
import type { Figure } from '../../bench/figures.ts'
import { verifyLedger } from '../../src/domain/audit/verify.ts'
import { verifyTraffic } from '../../src/domain/statistics/verify.ts'
import type { Installation } from '../installation/installation.ts'
import type { Accepted, Load } from '../installation/load.ts'

const SETTLE_MS = 180_000
const LOOK_MS = 300

/** A message over SMS, as the database has it. */
export type Row = {
  uuid: string
  destination: string
  status: string
  finalPrice: bigint | null
  wantsCallback: boolean
}

/** Everything that was seen of a fault. The operator, the receiver and the database are asked independently. */
export type Seen = {
  accepted: Accepted[]
  /** Messages that the operator got, by destination. */
  taken: ReadonlyMap<string, number>
  rows: Row[]
  /** The sum that was taken from all accounts. */
  spent: bigint
  ends: ReadonlyMap<string, ReadonlySet<string>>
  wrongCodes: number
  ledgerDifferences: number
  statisticsDifferences: number
  dispatchesOpen: number
  recoverSeconds: number
  settleSeconds: number
}

export type Bounds = { twice: number; recoverSeconds: number }

/** The promises, as figures with their targets. */
export function figuresOf(seen: Seen, bounds: Bounds): Figure[] {
  const { accepted, taken, rows, spent, ends } = seen
  const byDestination = Map.groupBy(rows, ({ destination }) => destination)
  const isFinal = ({ status }: Row) => status === 'DELIVERED' || status === 'FAILED'
  const isLost = ({ destination }: Accepted) =>
    !taken.has(destination) || !(byDestination.get(destination) ?? []).some(isFinal)
  const count = (what: string, value: number, most: number): Figure => ({ what, value, unit: '', target: { most } })
  return [
    { what: 'accepted', value: accepted.length, unit: '', target: { least: 1 } },
    count('lost', accepted.filter(isLost).length, 0),
    count('twice', extra([...taken.values()]), bounds.twice),
    count('accepted twice', extra([...byDestination.values()].map(({ length }) => length)), 0),
    count('not billed once', Math.abs(Number(spent - priceOnce(byDestination))) / 10_000, 0),
    count('ledger', seen.ledgerDifferences, 0),
    count('statistics', seen.statisticsDifferences, 0),
    count('not COMPLETED', seen.dispatchesOpen, 0),
    count('not told', rows.filter(row => row.wantsCallback && isFinal(row) && !ends.has(row.uuid)).length, 0),
    count('told two ends', [...ends.values()].filter(({ size }) => size > 1).length, 0),
    count('wrong codes', seen.wrongCodes, 0),
    { what: 'recover s', value: seen.recoverSeconds, unit: 's', target: { most: bounds.recoverSeconds } },
    { what: 'settle s', value: seen.settleSeconds, unit: 's' },
  ]
}

const extra = (counts: number[]) => counts.reduce((sum, times) => sum + times - 1, 0)

/** The price of one delivered message for each destination. */
const priceOnce = (byDestination: Map<string, Row[]>): bigint =>
  [...byDestination.values()].reduce(
    (sum, rows) => sum + (rows.find(({ status }) => status === 'DELIVERED')?.finalPrice ?? 0n),
    0n,
  )

/** Waits until every message has its end, then asks all sides. */
export async function look(
  installation: Installation,
  load: Load,
  times: { recoverSeconds: number; overAt: number },
): Promise<Seen> {
  const { sql, operator, receiver } = installation
  await untilSettled(installation, load)
  const settleSeconds = (performance.now() - times.overAt) / 1000
  await untilTold(installation)
  return {
    accepted: load.accepted,
    taken: await operator.taken(),
    rows: await rowsOf(installation),
    spent: await spentBy(installation),
    ends: receiver.ends,
    wrongCodes: await wrongCodes(installation, load),
    ledgerDifferences: (await verifyLedger(sql)).length,
    statisticsDifferences: (await verifyTraffic(sql)).length,
    dispatchesOpen: await openDispatches(installation, load),
    recoverSeconds: times.recoverSeconds,
    settleSeconds,
  }
}

/** Gives up after some minutes: the figures then show the messages without an end. */
async function untilSettled(installation: Installation, load: Load) {
  await until(async () => {
    const [row] = await installation.sql<{ isOpen: boolean }[]>`
      select exists (select from messages where status in ('CREATED', 'SENT')) as is_open`
    return !row!.isOpen && (await openDispatches(installation, load)) === 0
  })
}

async function untilTold({ sql }: Installation) {
  await until(async () => {
    const [row] = await sql<{ isWaiting: boolean }[]>`
      select exists (select from callbacks where status = 'WAITING') as is_waiting`
    return !row!.isWaiting
  })
}

async function until(isDone: () => Promise<boolean>) {
  const begun = performance.now()
  while (!(await isDone().catch(() => false)) && performance.now() - begun < SETTLE_MS) await pause(LOOK_MS)
}

async function openDispatches({ sql }: Installation, { dispatches }: Load): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select ${dispatches.length} - count(*)::int as open from dispatches
    where dispatch_id = any(${dispatches}::bigint[]) and status = 'COMPLETED'`
  return row!.open
}

const rowsOf = ({ sql }: Installation) => sql<Row[]>`
  select m.message_uuid as uuid, m.destination, m.status, m.final_price,
    coalesce(m.callback_url, d.callback_url) is not null as wants_callback
  from messages m left join dispatches d using (company_id, dispatch_id)
  where coalesce(m.channel_type, 'SMS') = 'SMS'`

async function spentBy({ sql }: Installation): Promise<bigint> {
  const rows = await sql<{ balance: bigint }[]>`select balance from accounts`
  return rows.reduce((sum, { balance }) => sum - balance, 0n)
}

/** Codes that the operator got and that the service does not confirm. */
async function wrongCodes(installation: Installation, { accepted }: Load): Promise<number> {
  const codes = await installation.operator.codes()
  let wrong = 0
  for (const { kind, destination, uuid } of accepted) {
    if (kind !== 'code') continue
    const answers = await Promise.all(
      installation.companies.map(({ verifierKey }) => check(installation, verifierKey, uuid!, codes.get(destination))),
    )
    if (!answers.includes('CONFIRMED')) wrong += 1
  }
  return wrong
}

async function check({ url }: Installation, key: string, uuid: string, code = 'none'): Promise<string> {
  const response = await fetch(`${url}/api/v1/verifier/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ uuid, code }),
  })
  return ((await response.json()) as { status?: string }).status ?? `${response.status}`
}
