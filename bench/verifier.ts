import { uuid7Batch } from '../src/base/uuid7.ts'
import { createKey } from '../src/domain/keys/keys.ts'
import { brandFinder } from '../src/domain/numbering/brand.ts'
import { Numbering } from '../src/domain/numbering/lookup.ts'
import { includedPlan } from '../src/domain/numbering/plan.ts'
import { CodeBox } from '../src/domain/verifications/code-box.ts'
import { createVerifier } from '../src/domain/verifiers/verifiers.ts'
import type { Child } from './child.ts'
import { type Connection, jsonOf, openConnection, requestBytes } from './client.ts'
import { addSimulator, codesBehindDispatch } from './codes.ts'
import { type Figure, median, type Options } from './figures.ts'
import { inventForms } from './message.ts'
import { type ProcessorTime, processorTime } from './processor-time.ts'
import { secret } from './secret.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'verifier'
export const about = 'codes sent and checked a second beside POST /message; from accepted to handed over, as authorize'

/** How much later a code may be behind a large dispatch. */
const MOST_RATIO = 5

const ROUNDS = 9
const ROUND_MS = 1500
const CONNECTIONS = 64
/** More requests than a round can ask. */
const SENDS_PER_ROUND = 15_000
const CHECKS_PER_ROUND = 30_000

export function run({ dispatch }: Options): Promise<Figure[]> {
  return onStage(async stage => {
    await addSimulator(stage.sql)
    const keys = await prepare(stage)
    const service = await stage.startService()
    const speeds = await compareSpeeds(stage, service, keys)
    await stage.startEngine()
    await everythingSent(stage)
    return [
      ...speeds,
      ...(await codesBehindDispatch(stage, service.port, () => sendOne(service, keys), MOST_RATIO, dispatch)),
    ]
  })
}

/** On a new connection: the service closes an idle connection while a large dispatch is created. */
async function sendOne({ port }: Child, keys: Keys): Promise<string> {
  const connection = await openConnection(port)
  const { uuid } = jsonOf(await connection.ask(sendRequest(keys)))
  connection.close()
  return uuid
}

type Keys = { message: string; verifier: string; gatewayId: string }

/** The limits are as high as they can be: every number is asked for once. */
async function prepare({ sql, companyId }: Stage): Promise<Keys> {
  const most = 1_000_000
  const limits = {
    perNumber: most,
    perAddress: most,
    perPrefix: most,
    perVerifier: most,
    perCompany: most,
    leastConfirmed: 0,
  }
  const settings = { senders: { SMS: 'ROMASHKA' }, lifetimeSeconds: 3600, limits }
  return sql.begin(async tx => ({
    message: (await createKey(tx, companyId, 'MESSAGE')).key,
    verifier: (await createKey(tx, companyId, 'VERIFIER')).key,
    gatewayId: await createVerifier(tx, companyId, 'API', { settings }),
  }))
}

/** Rounds of the three in turn, so that other work of the machine disturbs them alike. The first round warms up. */
async function compareSpeeds(stage: Stage, service: Child, keys: Keys): Promise<Figure[]> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(service.port)))
  const forms = inventForms(CONNECTIONS).map(form => requestBytes(keys.message, 'POST /api/v1/message', form))
  const measure = (requests: () => Buffer) => measureRound(stage, service, connections, requests)
  const rounds: { message: Measured; send: Measured; check: Measured }[] = []
  for (let i = 0; i <= ROUNDS; i++) {
    const sends = Array.from({ length: SENDS_PER_ROUND }, () => sendRequest(keys))
    const checks = await checkRequests(stage, keys)
    const message = await measure(again(forms))
    const send = await measure(each(sends))
    const check = await measure(each(checks))
    rounds.push({ message, send, check })
  }
  for (const connection of connections) connection.close()
  const counted = rounds.slice(1)
  const of = (part: 'message' | 'send' | 'check') => counted.map(round => round[part])
  const ratio = (part: 'send' | 'check') =>
    median(counted.map(round => round[part].perSecond / round.message.perSecond))
  await expectCounted(stage, rounds)
  return [
    ...speedFigures('POST /message', of('message')),
    ...speedFigures('POST /verifier/send', of('send')),
    { what: 'POST /verifier/send, to POST /message', value: ratio('send'), unit: '', target: { least: 0.8 } },
    ...speedFigures('POST /verifier/check', of('check')),
    { what: 'POST /verifier/check, to POST /message', value: ratio('check'), unit: '', target: { least: 1.5 } },
  ]
}

type Measured = { answered: number; perSecond: number; times: ProcessorTime | undefined }

function speedFigures(what: string, rounds: Measured[]): Figure[] {
  const times = rounds.flatMap(({ times }) => times ?? [])
  const speed = { what, value: median(rounds.map(({ perSecond }) => perSecond)), unit: 'requests/s' }
  if (times.length < rounds.length) return [speed]
  const microseconds = (of: keyof ProcessorTime) => median(times.map(time => time[of])) * 1e6
  return [
    speed,
    { what: '  processor time of the service', value: microseconds('service'), unit: 'µs/request' },
    { what: '  of its database sessions', value: microseconds('database'), unit: 'µs/request' },
  ]
}

/** Requests a second, and processor time for each. */
async function measureRound(
  { sql }: Stage,
  service: Child,
  connections: Connection[],
  next: () => Buffer,
): Promise<Measured> {
  const before = await processorTime(sql, service)
  const begun = performance.now()
  let answered = 0
  await Promise.all(
    connections.map(async connection => {
      while (performance.now() - begun < ROUND_MS) {
        await connection.ask(next())
        answered += 1
      }
    }),
  )
  const perSecond = (answered * 1000) / (performance.now() - begun)
  const after = await processorTime(sql, service)
  if (!before || !after) return { answered, perSecond, times: undefined }
  const perRequest = (of: keyof ProcessorTime) => (after[of] - before[of]) / answered
  return { answered, perSecond, times: { service: perRequest('service'), database: perRequest('database') } }
}

function again(requests: Buffer[]): () => Buffer {
  let asked = 0
  return () => requests[asked++ % requests.length]!
}

function each(requests: Buffer[]): () => Buffer {
  let asked = 0
  return () => {
    if (asked === requests.length) throw new Error('the round needs more requests')
    return requests[asked++]!
  }
}

const nextNumber = numbersOfManyPrefixes()

const sendRequest = ({ verifier, gatewayId }: Keys): Buffer =>
  requestBytes(verifier, 'POST /api/v1/verifier/send', {
    channelType: 'SMS',
    destination: nextNumber(),
    gatewayId,
    externalMessageId: 'login-1',
  })

/** Another prefix for each number, of operators that a name is registered with; then another number of each prefix. */
function numbersOfManyPrefixes(): () => string {
  const numbering = new Numbering(1, includedPlan(), new Map(), brandFinder([]))
  const isKnown = (prefix: string) => (numbering.lookup(`${prefix}5555`)?.brandId ?? 0) > 0
  const prefixes = Array.from({ length: 100_000 }, (_, i) => String(7_900_000 + i)).filter(isKnown)
  let drawn = 0
  return () => {
    const number = `${prefixes[drawn % prefixes.length]}${5555 + Math.floor(drawn / prefixes.length)}`
    drawn += 1
    return number
  }
}

/** Fresh verifications with known codes, as sends would have written them. */
async function checkRequests({ sql, companyId }: Stage, { verifier, gatewayId }: Keys): Promise<Buffer[]> {
  const box = new CodeBox(secret)
  const uuids = uuid7Batch(new Date(), CHECKS_PER_ROUND)
  const codes = uuids.map((_, i) => String(i).padStart(6, '0'))
  const hashes = uuids.map((uuid, i) => box.hash(uuid, codes[i]!))
  await sql`
    insert into verifications (company_id, verification_uuid, verifier_id, destination, country, prefix, channel_type,
      code_hashes, code_ends, tries_left, sent_at)
    select ${companyId}, message_uuid, ${gatewayId}, number, 'RU', left(number, 7), 'SMS', array[decode(hash, 'hex')],
      array[now() + interval '1 hour'], 3, now()
    from unnest(${uuids}::uuid[], ${hashes}::text[], ${uuids.map(() => nextNumber())}::text[]) q (message_uuid, hash, number)`
  return uuids.map((uuid, i) => requestBytes(verifier, 'POST /api/v1/verifier/check', { uuid, code: codes[i] }))
}

/** The statistics count every sent code and every confirmed code once. */
async function expectCounted({ sql, companyId }: Stage, rounds: Record<'send' | 'check', Measured>[]) {
  const [row] = await sql<{ sent: number; confirmed: number }[]>`
    select coalesce(sum(count) filter (where what = 'sent'), 0)::bigint as sent,
      coalesce(sum(count) filter (where what = 'confirmed'), 0)::bigint as confirmed
    from verification_counters where company_id = ${companyId}`
  const answered = (part: 'send' | 'check') => rounds.reduce((sum, round) => sum + round[part].answered, 0)
  if (row!.sent !== answered('send') || row!.confirmed !== answered('check'))
    throw new Error('codes that were sent or confirmed are not counted')
}

const EVERY_MS = 200

/** The messages of the comparison are out of the way before codes are timed. */
async function everythingSent({ sql, companyId }: Stage) {
  const isAnyLeft = async () => {
    const [row] = await sql<{ left: boolean }[]>`
      select exists (select from messages where company_id = ${companyId} and final_at is null) as left`
    return row!.left
  }
  while (await isAnyLeft()) await new Promise(resolve => setTimeout(resolve, EVERY_MS))
}
