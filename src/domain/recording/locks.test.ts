import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { type Money, money } from '../../base/money.ts'
import type { Transaction } from '../../db/sql.ts'
import { countLockWaits, useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aPartner, aSingle } from '../../testing/factories.ts'
import { runnableLanes } from '../../testing/lanes.ts'
import { testOnOneServer } from '../../testing/one-server.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, stop, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { useErasureSecret } from '../blacklist/erased.ts'
import { callbackKey, callbackSecretOf, replaceCallbackSecret } from '../callbacks/secrets.ts'
import type { CascadeContext } from '../cascade-steps/cascade-steps.ts'
import { setSwitches, updateCompany } from '../companies/companies.ts'
import { eraseNumber } from '../erasure/erasure.ts'
import { endOverdueSteps, enqueueUnread } from '../expiry/expiry.ts'
import { runsOf } from '../lanes/lane.ts'
import { takeChunk } from '../lanes/lanes.ts'
import { closeLease } from '../leases/leases.ts'
import { chargeDueFees } from '../ledger/fees.ts'
import { correctBalance, lockAccount, lockStatuses, setBilling, topUp } from '../ledger/ledger.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { importTariffs } from '../pricing/imports.ts'
import { acceptSingles, appendToLanes } from '../singles/singles.ts'
import { verifyTraffic } from '../statistics/verify.ts'
import { stopMessages } from '../stopping/stopping.ts'
import { recordStatusReports } from './recording.ts'

const db = useDatabase()
const now = new Date('2026-07-20T12:00:00Z')
const context = { billingZone, now }
let numbering: Numbering
const cascades: CascadeContext = { ...context, pool: db.sql, numbering: () => numbering, linkBase: '' }

beforeAll(async () => {
  useErasureSecret('a secret of this test')
  numbering = await loadNumbering(db.sql)
})

async function accept({ companyId, senders }: World, count: number, sendAt: Date | null = null): Promise<string[]> {
  const singles = Array.from({ length: count }, () => aSingle(senders[0]!, { sendAt }))
  const answers = await acceptSingles(db.sql, companyId, singles, context)
  return answers.flatMap(answer => (answer.kind === 'accepted' ? [answer.uuid] : []))
}

const deliver = ({ companyId }: World, uuids: string[]) =>
  recordStatusReports(
    db.sql,
    companyId,
    uuids.map(uuid => ({ uuid, sentAt: now, final: { status: 'DELIVERED' as const, at: now } })),
    context,
  )

const waitsAre = (count: number) => eventually(async () => expect(await countLockWaits(db.sql)).toBe(count))

const isLocked = async (sql: Transaction, uuids: string[]) =>
  (await sql`select from messages where message_uuid = any(${uuids}::uuid[]) for update skip locked`).length === 0

const moneyOf = async ({ companyId }: World) => {
  const [account] = await db.sql<{ balance: Money; reserved: Money }[]>`
    select balance, reserved from accounts where company_id = ${companyId}`
  return account!
}

testOnOneServer('results change the statuses first, and wait for the account only with their money', async () => {
  const world = await aWorld(db.sql)
  const uuids = await accept(world, 3)
  const { ended } = await db.sql.begin(async sql => {
    await lockAccount(sql, world.companyId, '2026-07-01')
    const recording = deliver(world, uuids)
    await waitsAre(1)
    expect(await isLocked(sql, uuids)).toBe(true)
    await sql`update accounts set balance = balance + 100 where company_id = ${world.companyId}`
    return { ended: recording }
  })
  expect(await ended).toHaveLength(3)
  expect(await moneyOf(world)).toEqual({ balance: money('88.30'), reserved: 0n })
  const [line] = await db.sql<{ balance: Money }[]>`
    select balance from ledger_lines where company_id = ${world.companyId}`
  expect(line!.balance).toBe(money('88.30'))
})

testOnOneServer('results of a company wait for each other before they touch a message', async () => {
  const world = await aWorld(db.sql)
  const uuids = await accept(world, 3)
  const { ended } = await db.sql.begin(async sql => {
    await lockStatuses(sql, world.companyId)
    const recording = deliver(world, uuids)
    await waitsAre(1)
    expect(await isLocked(sql, uuids)).toBe(false)
    return { ended: recording }
  })
  expect(await ended).toHaveLength(3)
})

test('messages are accepted while results of the company are being written', async () => {
  const world = await aWorld(db.sql)
  await db.sql.begin(async sql => {
    await lockStatuses(sql, world.companyId)
    expect(await accept(world, 2)).toHaveLength(2)
  })
  expect((await moneyOf(world)).reserved).toBe(money('7.80'))
})

testOnOneServer('a lock of the account by an older program excludes results and acceptance', async () => {
  const world = await aWorld(db.sql)
  const uuids = await accept(world, 3)
  const { ended } = await db.sql.begin(async sql => {
    await sql`select from accounts where company_id = ${world.companyId} for update`
    const recording = deliver(world, uuids)
    await waitsAre(1)
    expect(await isLocked(sql, uuids)).toBe(false)
    const accepting = accept(world, 1)
    await waitsAre(2)
    return { ended: Promise.all([recording, accepting]) }
  })
  const [changes, accepted] = await ended
  expect(changes).toHaveLength(3)
  expect(accepted).toHaveLength(1)
})

testOnOneServer('an older program waits for results that have not locked the account yet', async () => {
  const world = await aWorld(db.sql)
  const { ended } = await db.sql.begin(async sql => {
    await lockStatuses(sql, world.companyId)
    const older = db.sql.begin(tx => tx`select from accounts where company_id = ${world.companyId} for update`)
    await waitsAre(1)
    await lockAccount(sql, world.companyId, '2026-07-01') // without waiting for the older program
    return { ended: older }
  })
  expect(await ended).toHaveLength(1)
})

testOnOneServer('results get the account before an older program that waits for it', async () => {
  const world = await aWorld(db.sql)
  const lockOf = (sql: Transaction) => lockAccount(sql, world.companyId, '2026-07-01')
  const { older, results } = await db.sql.begin(async holder => {
    await lockOf(holder)
    const statuses = Promise.withResolvers<void>()
    const results = db.sql.begin(async sql => {
      await lockStatuses(sql, world.companyId)
      statuses.resolve()
      await waitsAre(1)
      await lockOf(sql)
    })
    await statuses.promise
    const older = db.sql.begin(tx => tx`select from accounts where company_id = ${world.companyId} for update`)
    await waitsAre(2)
    return { older, results }
  })
  await Promise.all([older, results])
})

/** As when a month is detached: it waits for results, and everything else waits behind it. */
testOnOneServer('messages that wait behind a lock of the table do not keep the account', async () => {
  const world = await aWorld(db.sql)
  const uuids = await accept(world, 1)
  const { locking, accepting } = await db.sql.begin(async sql => {
    await lockStatuses(sql, world.companyId)
    await sql`update messages set operator_error = null where message_uuid = any(${uuids}::uuid[])`
    const locking = db.sql.begin(tx => tx`lock table only messages in access exclusive mode`)
    await waitsAre(1)
    const accepting = accept(world, 1)
    await waitsAre(2)
    const free = await sql`select from accounts where company_id = ${world.companyId} for update skip locked`
    expect(free).toHaveLength(1)
    return { locking, accepting }
  })
  await Promise.all([locking, accepting])
})

/** Prepares a transaction that depends on the statuses, and returns its start. */
const dependents: Record<string, (world: World) => Promise<() => Promise<unknown>>> = {
  'a stop of messages': async world => {
    const uuids = await accept(world, 1)
    return () => stopMessages(db.sql, world.companyId, uuids, context)
  },
  'the start of a dispatch': async world => {
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(1))
    return () => start(db.sql, world, dispatchId, now)
  },
  'the stop of a dispatch': async world => {
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(1))
    await start(db.sql, world, dispatchId, now)
    return () => stop(db.sql, world, dispatchId, now)
  },
  'the return of a lease': async world => {
    await accept(world, 1)
    return async () => returnChunk(world)
  },
  'a message that is due': async world => {
    const uuids = await accept(world, 1, now)
    return () => appendToLanes(db.sql, world.companyId, uuids, context)
  },
  'the end of a cascade step': async world => {
    const uuids = await accept(world, 1)
    return () => endOverdueSteps(db.sql, world.companyId, uuids, cascades)
  },
  'the end of the time for reading': async world => {
    const uuids = await accept(world, 1)
    return () => enqueueUnread(db.sql, world.companyId, uuids, now)
  },
  'an erasure': async world => {
    const destination = '79160004477' // no other test has a message to it
    const [answer] = await acceptSingles(
      db.sql,
      world.companyId,
      [aSingle(world.senders[0]!, { destination })],
      context,
    )
    if (answer?.kind === 'accepted') await deliver(world, [answer.uuid])
    return () => eraseNumber(db.sql, destination, { ...context, record: async () => {} })
  },
}

testOnOneServer.for(Object.keys(dependents))(
  '%s waits for results that are being written, and does not lock the account meanwhile',
  async kind => {
    const world = await aWorld(db.sql)
    const begin = await dependents[kind]!(world)
    const { ended } = await db.sql.begin(async sql => {
      await lockStatuses(sql, world.companyId)
      const begun = begin()
      await waitsAre(1)
      const free = await sql`select from accounts where company_id = ${world.companyId} for update skip locked`
      expect(free).toHaveLength(1)
      return { ended: begun }
    })
    await ended
  },
)

test('a partner cannot wait for the results of a company of another partner, nor lock its statuses', async () => {
  const { companyId } = await aWorld(db.sql)
  const other = await aPartner(db.sql)
  await db.sql.begin(async sql => {
    await lockStatuses(sql, companyId)
    const edit = db.sql.begin(tx => updateCompany(tx, other, companyId, { name: 'Mine' }))
    await expect(edit).rejects.toMatchObject({ kind: 'not_found' })
  })
})

/** As an engine does whose operator was away. */
async function returnChunk({ companyId }: World) {
  const lane = (await runnableLanes(db.sql, new Date())).find(runnable => runnable.companyId === companyId)
  const lease = lane && (await takeChunk(db.sql, lane, 5, randomUUID()))
  if (!lease) return
  const left = runsOf([{ seq: lease.firstSeq, attempts: 1, dueAt: now }])
  await closeLease(db.sql, lease, left, context)
}

/** Prices that depend on the number of delivered messages. */
const countingTariffs = [
  {
    senderType: 'COMMON',
    brand: 'MTS',
    pricingModel: 'SCALED',
    steps: [
      { from: 1, price: '3' },
      { from: 20, price: '2' },
    ],
  },
  {
    senderType: 'COMMON',
    brand: 'BEELINE',
    pricingModel: 'MAU',
    steps: [
      { from: 1, price: '1', priceMauBatch: '10' },
      { from: 3, price: '0.5', priceMauBatch: '20' },
    ],
  },
]

const WORKERS = 8
const ROUNDS = 80
const key = callbackKey('a secret of the tests, 32 or longer')

/** Any two transactions of a company may meet. PostgreSQL ends one of two that wait for each other with an error. */
test('transactions of all kinds at once never wait for each other in a circle, and the money is exact', async () => {
  const world = await aWorld(db.sql)
  const { companyId } = world
  await importTariffs(db.sql, world.partner.login, countingTariffs)
  const uuids = await accept(world, 5)
  const later: string[] = []
  const dispatches: number[] = []
  const anyOf = <T>(list: T[], count = 3) => Array.from({ length: count }, () => list[random(list.length)]!)
  const someUuids = () => [...new Set(anyOf(uuids))]
  const kinds: (() => Promise<unknown>)[] = [
    async () => uuids.push(...(await accept(world, 3))),
    async () => later.push(...(await accept(world, 3, now))),
    async () => {
      const due = later.splice(0)
      if (due.length > 0) await appendToLanes(db.sql, companyId, due, context)
      uuids.push(...due)
    },
    async () => {
      const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(12))
      dispatches.push(dispatchId)
      const rows = await db.sql<{ uuid: string }[]>`
        select message_uuid as uuid from messages where company_id = ${companyId} and dispatch_id = ${dispatchId}`
      uuids.push(...rows.map(({ uuid }) => uuid))
      await start(db.sql, world, dispatchId, now)
    },
    async () => {
      const dispatchId = dispatches.shift()
      if (dispatchId) await stop(db.sql, world, dispatchId, now)
    },
    () => deliver(world, someUuids()),
    () => deliver(world, someUuids()),
    () =>
      recordStatusReports(
        db.sql,
        companyId,
        someUuids().map(uuid => ({ uuid, sentAt: now })),
        context,
      ),
    () => stopMessages(db.sql, companyId, someUuids(), context),
    () => endOverdueSteps(db.sql, companyId, someUuids(), cascades),
    () => enqueueUnread(db.sql, companyId, someUuids(), now),
    () => recordStatusReports(db.sql, companyId, [{ uuid: someUuids()[0]!, read: { at: now } }], context),
    () => topUp(db.sql, companyId, { amount: money('10') }, context),
    () => db.sql.begin(sql => correctBalance(sql, companyId, { amount: money('-1'), reason: 'a trial' }, context)),
    () => db.sql.begin(sql => updateCompany(sql, world.partner, companyId, { name: `Company ${random(100)}` })),
    () => db.sql.begin(sql => setSwitches(sql, companyId, { inbound: random(2) === 0 })),
    () => db.sql.begin(sql => setBilling(sql, companyId, random(2) === 0 ? 'PREPAID' : 'POSTPAID')),
    () => db.sql.begin(sql => replaceCallbackSecret(sql, companyId, key)),
    () => callbackSecretOf(db.sql, companyId, key),
    () => chargeDueFees(db.sql, context),
    () => returnChunk(world),
  ]
  const work = async () => {
    for (let i = 0; i < ROUNDS; i++) await kinds[random(kinds.length)]!().catch(refusalsAlone)
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  expect(await verifyLedger(db.sql, { companyId })).toEqual([])
  expect(await verifyTraffic(db.sql, { companyId })).toEqual([])
})

/** A start may be refused, such as of a dispatch whose stop was quicker. An error of the database is a fault. */
function refusalsAlone(error: unknown) {
  if (!(error instanceof AppError)) throw error
}

const random = (below: number) => Math.floor(Math.random() * below)
