import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { aCompany, aPartner, aSender } from '../../testing/factories.ts'
import { ownedNames } from '../gateways/name-owners.ts'
import type { Brand } from '../numbering/brand.ts'
import { openStatuses, type ReviewStatus, reviewStatuses } from '../review/review.ts'
import { advanceDueSenders, approveSender, denySender, type FeeOf, rejectSender } from './moderation.ts'
import type { NewSender, Sender, SenderChange } from './sender.ts'
import { requireSender, reviewChangesOfSender, updateSender } from './senders.ts'

const db = useDatabase()

const now = new Date('2026-05-01T12:00:00Z')
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000)
const noFee: FeeOf = () => null

let companyId: number
beforeAll(async () => {
  companyId = await aCompany(db.sql, await aPartner(db.sql))
})
beforeEach(async () => {
  await db.sql`truncate sender_moves, senders cascade`
})

/** A name with the given review status. */
async function aSenderIn(status: ReviewStatus, given: Partial<NewSender> & { validTo?: Date } = {}): Promise<Sender> {
  const { validTo, ...rest } = given
  const { senderId } = await aSender(db.sql, companyId, { validFrom: inDays(-10), ...rest })
  await db.sql`
    update senders set status = ${status}, valid_to = ${validTo ?? null}
    where company_id = ${companyId} and sender_id = ${senderId}`
  return read({ senderId })
}

const read = ({ senderId }: Pick<Sender, 'senderId'>) => requireSender(db.sql, companyId, senderId)
const statusOf = async (sender: Sender) => (await read(sender)).status
const changesOf = async (sender: Sender) =>
  (await reviewChangesOfSender(db.sql, companyId, sender.senderId)).map(
    ({ from, to, by }) => `${from} > ${to} by ${by}`,
  )
const tick = (moderation: 'auto' | 'manual', at = now, feeOf = noFee) =>
  advanceDueSenders(db.sql, moderation, feeOf, at)

const others = (...states: readonly ReviewStatus[]) => reviewStatuses.filter(status => !states.includes(status))

describe('manual moderation', () => {
  test('a new name is a draft; the next tick submits it, and no later tick changes it', async () => {
    const sender = await aSender(db.sql, companyId)
    expect(sender.status).toBe('DRAFT')
    expect(await tick('manual')).toBe(1)
    expect(await tick('manual')).toBe(0)
    expect(await changesOf(sender)).toEqual(['DRAFT > PRE_REVIEW by clock'])
    expect(await statusOf(sender)).toBe('PRE_REVIEW')
  })

  test.each(others('DRAFT', 'AWAITING'))('%s does not change', async status => {
    const sender = await aSenderIn(status)
    expect(await tick('manual')).toBe(0)
    expect(await statusOf(sender)).toBe(status)
  })
})

describe('automatic moderation', () => {
  const review = [
    'DRAFT > PRE_REVIEW by clock',
    'PRE_REVIEW > INTERNAL_REVIEW by clock',
    'INTERNAL_REVIEW > EXTERNAL_REVIEW by clock',
    'EXTERNAL_REVIEW > AWAITING by clock',
    'AWAITING > APPROVED by clock',
  ]

  test.each(openStatuses.map((status, i) => [status, review.slice(i)] as const))(
    'a name that is %s is approved in one tick, and every change is stored',
    async (status, moves) => {
      const sender = await aSenderIn(status)
      expect(await tick('auto')).toBe(moves.length)
      expect(await statusOf(sender)).toBe('APPROVED')
      expect(await changesOf(sender)).toEqual(moves)
      const kept = await reviewChangesOfSender(db.sql, companyId, sender.senderId)
      expect(kept.map(change => change.changedAt)).toEqual(moves.map(() => now))
    },
  )

  test.each(others(...openStatuses))('%s does not change', async status => {
    const sender = await aSenderIn(status)
    expect(await tick('auto')).toBe(0)
    expect(await statusOf(sender)).toBe(status)
  })

  test('a name waits for its first day', async () => {
    const sender = await aSender(db.sql, companyId, { validFrom: inDays(1) })
    await tick('auto')
    expect(await statusOf(sender)).toBe('AWAITING')
    await tick('auto', new Date(inDays(1).getTime() - 1))
    expect(await statusOf(sender)).toBe('AWAITING')
    await tick('auto', inDays(1))
    expect(await statusOf(sender)).toBe('APPROVED')
  })

  test('a name that belongs to a gateway waits for staff: with it a company could write as the bot of another', async () => {
    await aGateway(db.sql, { channelType: 'TELEGRAM', connector: 'telegram', settings: { botName: '@shop_bot' } })
    const theirs = [
      await aSender(db.sql, companyId, { channelType: 'TELEGRAM', senderName: 'shop_bot' }),
      await aSender(db.sql, companyId, { channelType: 'TELEGRAM', senderName: '@shop_bot' }),
    ]
    const free = await aSender(db.sql, companyId, { channelType: 'TELEGRAM', senderName: 'free_bot' })
    await advanceDueSenders(db.sql, 'auto', noFee, now, await ownedNames(db.sql))
    expect(await Promise.all([...theirs, free].map(statusOf))).toEqual(['DRAFT', 'DRAFT', 'APPROVED'])
    await approveSender(db.sql, theirs[0]!.senderId, noFee, inDays(100_000))
    expect(await statusOf(theirs[0]!)).toBe('APPROVED')
    await db.sql`delete from gateways`
  })
})

describe('changes by date', () => {
  test.each(['auto', 'manual'] as const)('AWAITING becomes APPROVED on its first day (%s)', async moderation => {
    const sender = await aSenderIn('AWAITING', { validFrom: inDays(1) })
    expect(await tick(moderation)).toBe(0)
    expect(await tick(moderation, inDays(1))).toBe(1)
    expect(await changesOf(sender)).toEqual(['AWAITING > APPROVED by clock'])
  })

  test.each([
    ['AWAITING', 'auto'],
    ['AWAITING', 'manual'],
    ['APPROVED', 'auto'],
    ['APPROVED', 'manual'],
  ] as const)('%s becomes CLOSED at its last moment (%s)', async (status, moderation) => {
    const sender = await aSenderIn(status, { validFrom: inDays(5), validTo: inDays(5) })
    expect(await tick(moderation, new Date(inDays(5).getTime() - 1))).toBe(0)
    expect(await tick(moderation, inDays(5))).toBe(1)
    expect(await changesOf(sender)).toEqual([`${status} > CLOSED by clock`])
    expect(await tick(moderation, inDays(50))).toBe(0)
  })

  test('the last day closes no name in another status', async () => {
    for (const status of others(...openStatuses, 'APPROVED')) await aSenderIn(status, { validTo: inDays(-1) })
    expect(await tick('auto')).toBe(0)
  })

  test('the next ticks change the names that exceed the limit of one tick', async () => {
    await db.sql`
      insert into senders (company_id, sender_id, sender_name, channel_type, common_type, brand, country_code, valid_from)
      select ${companyId}, 1000000 + n, 'NAME', 'SMS', 'COMMON', 'MTS', 'RU', ${now} from generate_series(1, 520) n`
    const moves = [await tick('manual'), await tick('manual'), await tick('manual')]
    expect(moves).toEqual([500, 20, 0])
  })
})

describe('staff', () => {
  const APPROVAL = ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING', 'APPROVED'] as const

  test.each(openStatuses)('approve a name that is %s: it passes the rest of the review', async status => {
    const sender = await aSenderIn(status)
    expect((await approveSender(db.sql, sender.senderId, noFee, now)).status).toBe('APPROVED')
    const path = APPROVAL.slice(APPROVAL.indexOf(status))
    expect(await changesOf(sender)).toEqual(path.slice(1).map((to, i) => `${path[i]} > ${to} by staff`))
  })

  test('approve a name before its first day: it waits', async () => {
    const sender = await aSenderIn('PRE_REVIEW', { validFrom: inDays(1) })
    expect((await approveSender(db.sql, sender.senderId, noFee, now)).status).toBe('AWAITING')
  })

  test.each(['PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW'] as const)('reject a name that is %s', async status => {
    const sender = await aSenderIn(status)
    const rejected = await rejectSender(db.sql, sender.senderId, 'Needs a trade mark', now)
    expect(rejected).toMatchObject({ status: 'REJECTED', managerComment: 'Needs a trade mark', rejectedAt: now })
    const [change] = await reviewChangesOfSender(db.sql, companyId, sender.senderId)
    expect(change).toEqual({ from: status, to: 'REJECTED', by: 'staff', comment: 'Needs a trade mark', changedAt: now })
    expect(await tick('auto')).toBe(0)
  })

  test.each(others('CLOSED', 'DENIED'))('deny a name that is %s, for ever', async status => {
    const sender = await aSenderIn(status, { validTo: inDays(1) })
    const denied = await denySender(db.sql, sender.senderId, 'Somebody else has it', now)
    expect(denied).toMatchObject({ status: 'DENIED', managerComment: 'Somebody else has it' })
    expect(await tick('auto', inDays(10))).toBe(0)
    await expect(approveSender(db.sql, sender.senderId, noFee, now)).rejects.toMatchObject({ kind: 'invalid' })
    await expect(rejectSender(db.sql, sender.senderId, 'no', now)).rejects.toMatchObject({ kind: 'invalid' })
  })

  test.each([
    ['approve', others(...openStatuses), (id: number) => approveSender(db.sql, id, noFee, now)],
    [
      'reject',
      others('PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW'),
      (id: number) => rejectSender(db.sql, id, 'no', now),
    ],
    ['deny', ['CLOSED', 'DENIED'] as ReviewStatus[], (id: number) => denySender(db.sql, id, 'no', now)],
  ] as const)(
    'cannot %s a name in any other status, and the error says so in one sentence',
    async (_, states, decide) => {
      for (const status of states) {
        const sender = await aSenderIn(status)
        const refusal = await decide(sender.senderId).catch(error => error)
        expect(refusal).toMatchObject({ kind: 'invalid' })
        expect(refusal.message).toMatch(new RegExp(`^Sender ${sender.senderId} is ${status} and cannot be \\w+$`))
        expect(await changesOf(sender)).toEqual([])
        expect(await read(sender)).toEqual(sender)
      }
    },
  )

  test('the approval of a rejected name removes the comment of the rejection', async () => {
    const sender = await aSenderIn('PRE_REVIEW')
    await rejectSender(db.sql, sender.senderId, 'Too short', now)
    expect(await updateSender(db.sql, sender, {}, now)).toMatchObject({ managerComment: 'Too short' })
    expect(await approveSender(db.sql, sender.senderId, noFee, now)).toMatchObject({
      status: 'APPROVED',
      managerComment: null,
    })
  })

  test('the comment of an approval stays, before and after the first day', async () => {
    const sender = await aSenderIn('PRE_REVIEW', { validFrom: inDays(1) })
    await approveSender(db.sql, sender.senderId, noFee, now, 'Well named')
    expect(await read(sender)).toMatchObject({ status: 'AWAITING', managerComment: 'Well named' })
    await tick('manual', inDays(2))
    expect(await read(sender)).toMatchObject({ status: 'APPROVED', managerComment: 'Well named' })
  })

  test('get an error for an unknown name', async () => {
    await expect(approveSender(db.sql, 987_654, noFee, now)).rejects.toMatchObject({ kind: 'not_found' })
  })
})

describe('a change', () => {
  test('of a rejected name sends it back into review', async () => {
    const sender = await aSenderIn('PRE_REVIEW')
    await rejectSender(db.sql, sender.senderId, 'Too short', now)
    const changed = await updateSender(db.sql, sender, { senderName: 'ROMASHKA2' }, now)
    expect(changed).toMatchObject({ status: 'PRE_REVIEW', senderName: 'ROMASHKA2', rejectedAt: null })
    expect((await changesOf(sender)).at(-1)).toBe('REJECTED > PRE_REVIEW by partner')
  })

  test('that is refused does not', async () => {
    const sender = await aSenderIn('REJECTED')
    await expect(updateSender(db.sql, sender, { senderName: 'нет' }, now)).rejects.toThrow('senderName')
    await expect(updateSender(db.sql, sender, { validTo: inDays(-1) }, now)).rejects.toThrow('validTo')
    expect(await read(sender)).toEqual(sender)
  })

  const early = ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'REJECTED'] as const
  const untilApproved = [...openStatuses, 'REJECTED'] as const
  const untilTheEnd = [...untilApproved, 'APPROVED'] as const

  test.each([
    ['senderName', { senderName: 'OTHER' }, early],
    ['commonType', { commonType: 'PROMO' }, early],
    ['validFrom', { validFrom: inDays(2) }, untilApproved],
    ['validTo', { validTo: inDays(20) }, untilTheEnd],
    ['documentIds', { documentIds: [] }, untilTheEnd],
  ] as [keyof SenderChange, SenderChange, readonly ReviewStatus[]][])(
    '%s has its time',
    async (field, change, allowed) => {
      for (const status of reviewStatuses) {
        const sender = await aSenderIn(status)
        const outcome = await updateSender(db.sql, sender, change, now).then(
          () => 'changed',
          error => error.message,
        )
        const expected = allowed.includes(status)
          ? 'changed'
          : `${field}: cannot be changed while the sender is ${status}`
        expect(outcome).toBe(expected)
      }
    },
  )
})

describe('the fee', () => {
  const fees: Partial<Record<Brand, bigint>> = { MTS: money('2500'), TELE2: money('1900') }
  const feeOf: FeeOf = brand => fees[brand] ?? null

  test.each([
    ['PROMO', 'MTS', money('2500')],
    ['MULTISIGNATURE', 'TELE2', money('1900')],
    ['PROMO', 'BEELINE', null], // no row in the fee table
    ['COMMON', 'MTS', null],
    ['INTERNATIONAL_VERIFY', 'MTS', null],
    ['INTERNATIONAL_COMMON', 'MTS', null],
  ] as const)('of a name of type %s at %s is %s, set on approval and not before', async (commonType, brand, fee) => {
    const byClock = await aSender(db.sql, companyId, { commonType, brand, validFrom: inDays(1) })
    const byStaff = await aSender(db.sql, companyId, { commonType, brand, validFrom: inDays(-1) })
    await tick('auto', now, noFee) // byStaff is approved without a fee here, byClock waits
    await db.sql`update senders set status = 'PRE_REVIEW' where sender_id = ${byStaff.senderId}`
    expect((await read(byClock)).fee).toBeNull()

    await tick('auto', inDays(1), feeOf)
    expect(await read(byClock)).toMatchObject({ status: 'APPROVED', fee })
    await db.sql`update senders set status = 'PRE_REVIEW', fee = null where sender_id = ${byStaff.senderId}`
    expect(await approveSender(db.sql, byStaff.senderId, feeOf, now)).toMatchObject({ status: 'APPROVED', fee })
  })
})

describe('at once', () => {
  test('several processes make each change once', async () => {
    const senders = await Promise.all(Array.from({ length: 30 }, () => aSender(db.sql, companyId)))
    const moves = await Promise.all(Array.from({ length: 6 }, () => tick('auto')))
    // A process that lost a name to another process stops there. The next tick takes the name to its end.
    const late = await tick('auto')
    for (const sender of senders) {
      expect(await statusOf(sender)).toBe('APPROVED')
      expect(await changesOf(sender)).toHaveLength(5)
    }
    expect([...moves, late].reduce((sum, count) => sum + count, 0)).toBe(30 * 5)
  })

  test('two members of staff do not both decide', async () => {
    const sender = await aSenderIn('PRE_REVIEW')
    const outcomes = await Promise.allSettled([
      rejectSender(db.sql, sender.senderId, 'no', now),
      approveSender(db.sql, sender.senderId, noFee, now),
      rejectSender(db.sql, sender.senderId, 'no', now),
    ])
    const decided = outcomes.filter(outcome => outcome.status === 'fulfilled')
    expect(decided).toHaveLength(1)
  })

  /** The change is written between the tick's reading of the name and its update. */
  async function changedUnderTheClock(sender: Sender, change: (sql: typeof db.sql) => Promise<unknown>, feeOf = noFee) {
    let ticked: Promise<number> | undefined
    await db.sql.begin(async tx => {
      await change(tx as never)
      ticked = tick('auto', now, feeOf)
      await pause(100)
    })
    await ticked
    return read(sender)
  }

  test('a change of the type during a tick does not lose the fee', async () => {
    const sender = await aSender(db.sql, companyId, { commonType: 'COMMON' })
    await changedUnderTheClock(
      sender,
      sql => sql`update senders set common_type = 'PROMO' where sender_id = ${sender.senderId}`,
      () => money('100'),
    )
    await tick('auto', now, () => money('100'))
    expect(await read(sender)).toMatchObject({ status: 'APPROVED', commonType: 'PROMO', fee: money('100') })
  })

  test('a name waits for a first day that was put off during a tick', async () => {
    const sender = await aSenderIn('AWAITING')
    const changed = await changedUnderTheClock(
      sender,
      sql => sql`update senders set valid_from = ${inDays(3)} where sender_id = ${sender.senderId}`,
    )
    expect(changed.status).toBe('AWAITING')
  })

  test('a last day that was put off during a tick does not close the name', async () => {
    const sender = await aSenderIn('APPROVED', { validTo: now })
    const changed = await changedUnderTheClock(
      sender,
      sql => sql`update senders set valid_to = ${inDays(3)} where sender_id = ${sender.senderId}`,
    )
    expect(changed.status).toBe('APPROVED')
  })
})
