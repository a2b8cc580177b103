import { setTimeout as pause } from 'node:timers/promises'
import type { SmscSettings } from '../../src/channels/smpp/smsc/smsc.ts'
import { BIND_WINDOW, type Installation } from '../installation/installation.ts'
import type { Fault } from './fault.ts'

const BAD_MS = 15_000
const DEAD_MS = 20_000

/** An operator that behaves badly for a while, and a dead receiver of callbacks. */
export const operatorFaults: Fault[] = [
  {
    name: 'operator-throttles',
    about: 'the operator takes 200 parts a second, and refuses a third of these, too',
    mostTwice: 0,
    strike: behaveBadly({ partsPerSecond: 200, throttleRate: 0.3 }, { partsPerSecond: 0, throttleRate: 0 }),
  },
  {
    name: 'operator-lies',
    about: 'duplicate and contradicting receipts, receipts with wrong ids, receipts before the answer',
    mostTwice: 0,
    strike: behaveBadly(
      { duplicateReceiptRate: 0.3, contradictingReceiptRate: 0.3, wrongIdReceiptRate: 0.3, earlyReceiptRate: 0.3 },
      { duplicateReceiptRate: 0, contradictingReceiptRate: 0, wrongIdReceiptRate: 0, earlyReceiptRate: 0 },
    ),
  },
  {
    name: 'operator-disconnects',
    about: 'the operator takes every 200th message and cuts the connection instead of answering',
    mostTwice: openWhenCut,
    strike: behaveBadly({ disconnectEvery: 200 }, { disconnectEvery: 0 }),
  },
  {
    name: 'operator-late',
    about: 'answers after 5 seconds, receipts up to 5 seconds later',
    mostTwice: 0,
    strike: behaveBadly({ answerMs: 5000, receiptMs: 5000 }, { answerMs: 0, receiptMs: 0 }),
  },
  {
    name: 'receiver-dead',
    about: 'the receiver of callbacks refuses connections for 20 seconds; a retry follows after 2 (not 300) seconds',
    mostTwice: 0,
    strike: async ({ receiver }) => {
      await receiver.die()
      await pause(DEAD_MS)
      await receiver.live()
    },
  },
]

function behaveBadly(bad: Partial<SmscSettings>, good: Partial<SmscSettings>) {
  return async ({ operator }: Installation) => {
    await operator.behave(bad)
    await pause(BAD_MS)
    await operator.behave(good)
  }
}

/** docs/decisions.md: messages without an answer on a lost connection are sent again. */
async function openWhenCut({ operator }: Installation): Promise<number> {
  const { disconnects } = await operator.counts()
  return disconnects * BIND_WINDOW
}
