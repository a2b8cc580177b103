import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readingOf } from '../../src/channels/smpp/receipts/id-evidence.ts'
import { createMessageIds, type LearntIds } from '../../src/channels/smpp/receipts/message-ids.ts'
import { type ProviderReceipt, submissionTo } from '../../src/domain/receipts/receipt.ts'
import { withReadId } from '../../src/engine/gateways/receipt-ids.ts'

const FORMS: Record<string, [answered: (n: number) => string, receipted: (n: number) => string]> = {
  decimal: [String, String],
  'zeros in front': [n => String(n).padStart(10, '0'), n => String(n)],
  'hexadecimal in two cases': [n => n.toString(16), n => n.toString(16).toUpperCase()],
  'hexadecimal, then decimal': [n => n.toString(16), String],
  'decimal, then hexadecimal': [String, n => n.toString(16)],
}

/** Times are ticks. A submission without an answer is given up after this many ticks. */
const GIVEN_UP_AFTER = 30

/** An operator whose ids have this many digits does not reuse an id while we remember it. */
const MOST_USED_AGAIN = 10_000_000

const messages = fc.record({
  gap: fc.nat(2),
  answerAfter: fc.nat(20),
  receiptAfter: fc.nat(40),
  isAnswered: fc.integer({ min: 0, max: 19 }).map(n => n > 0),
  isReported: fc.integer({ min: 0, max: 9 }).map(n => n > 0),
})

const worlds = fc.record({
  form: fc.constantFrom(...Object.keys(FORMS)),
  first: fc.constantFrom(1, 8, 95, 1000, 65_000, 900_000_000),
  numbers: fc.constantFrom(1, 3, 500),
  /** Counts from the first id again, once there is no open work. */
  restartAt: fc.option(fc.integer({ min: 5, max: 100 }), { nil: undefined }),
  isTidy: fc.boolean(),
  plan: fc.array(messages, { minLength: 1, maxLength: 150, size: 'max' }),
})

type World = typeof worlds extends fc.Arbitrary<infer W> ? W : never

/** Answers and receipts of the operator, in the order of time. */
function eventsOf({ form, first, numbers, isTidy, plan, ...world }: World) {
  const restartAt = first > MOST_USED_AGAIN ? undefined : world.restartAt
  const [answered, receipted] = FORMS[form]!
  const events: { at: number; kind: 'submitted' | 'answered' | 'given up' | 'receipt'; i: number }[] = []
  let at = 0
  let last = 0
  const all = plan.map(({ gap, answerAfter, receiptAfter, isAnswered, isReported }, i) => {
    at = i === restartAt ? last + 1 : at + gap
    events.push({ at, kind: 'submitted', i })
    const isSilent = !isTidy && !isAnswered
    events.push({ at: at + (isSilent ? GIVEN_UP_AFTER : answerAfter), kind: isSilent ? 'given up' : 'answered', i })
    // After a restart, a receipt could also fit an older message to the same number that never had a receipt.
    if (isTidy || isReported || restartAt !== undefined) events.push({ at: at + receiptAfter, kind: 'receipt', i })
    last = Math.max(last, at + GIVEN_UP_AFTER, at + receiptAfter)
    const id = first + (restartAt !== undefined && i >= restartAt ? i - restartAt : i)
    return { uuid: String(i), since: new Date(at), destination: `7916${String(i % numbers).padStart(7, '0')}`, id }
  })
  return {
    all,
    events: events.sort((a, b) => a.at - b.at),
    answerId: (i: number) => answered(all[i]!.id),
    receiptId: (i: number) => receipted(all[i]!.id),
  }
}

/** An engine without a database. It says which message each receipt has ended. */
function receive(world: World) {
  const { all, events, answerId, receiptId } = eventsOf(world)
  let learnt: LearntIds | undefined
  const ids = createMessageIds('auto', found => {
    learnt = found
  })
  const submissions = new Map<string, { uuid: string; part: number }[]>()
  const state = new Map(all.map(({ uuid, destination, since }) => [uuid, { destination, since, isOpen: true }]))
  const openSince = new Map<number, number>()
  let unanswered = 0
  let kept: (ProviderReceipt & { i: number; at: number })[] = []
  const ends: { i: number; uuid: string }[] = []

  function take(receipt: (typeof kept)[number]) {
    const read = withReadId(receipt, learnt)
    const under = (read && submissions.get(read.providerId)) ?? []
    const found = read?.subscriber
      ? submissionTo(read, under, state)
      : under.findLast(({ uuid }) => state.get(uuid)!.isOpen)
    if (!found) return true
    state.get(found.uuid)!.isOpen = false
    ends.push({ i: receipt.i, uuid: found.uuid })
    return false
  }

  function look(at: number) {
    const until = Math.min(at, ...openSince.values())
    const receipts = kept.filter(receipt => receipt.isUnread && receipt.at < until)
    const destinationsOf = (id: string) => (submissions.get(id) ?? []).map(({ uuid }) => state.get(uuid)!.destination)
    learnt ??= readingOf({
      receipts: receipts.map(({ providerId, subscriber }) => ({ id: providerId, subscriber: subscriber! })),
      destinationsOf,
      unanswered,
    })
    if (learnt) ids.recall(learnt)
    kept = kept.filter(take)
  }

  for (const { at, kind, i } of events) {
    const { destination, uuid } = all[i]!
    if (kind === 'submitted') openSince.set(i, at)
    else if (kind === 'receipt') {
      const told = {
        i,
        at,
        receivedAt: new Date(at),
        status: 'DELIVERED' as const,
        errorCode: null,
        happenedAt: new Date(),
      }
      const named = ids.receipted(receiptId(i), destination)
      const receipt = named
        ? { ...told, ...named }
        : { ...told, providerId: receiptId(i), isUnread: true, subscriber: destination }
      if (take(receipt)) kept.push(receipt)
    } else {
      openSince.delete(i)
      if (kind === 'given up') unanswered++
      else {
        const id = ids.submitted(answerId(i), destination)
        submissions.set(id, [...(submissions.get(id) ?? []), { uuid, part: 0 }])
      }
    }
    look(at)
  }
  look(Number.POSITIVE_INFINITY)
  return { ends, waiting: kept.length }
}

test('no receipt ends the wrong message, for any form, order and delay, and with enough receipts every receipt finds its message', () => {
  fc.assert(
    fc.property(worlds, world => {
      const { ends, waiting } = receive(world)
      expect(ends.filter(({ i, uuid }) => uuid !== String(i))).toEqual([])
      if (world.isTidy && world.plan.length >= 100) expect(waiting).toBe(0)
    }),
    { numRuns: 300 },
  )
})
