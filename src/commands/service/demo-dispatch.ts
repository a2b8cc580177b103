import type { Pool } from '../../db/sql.ts'
import { addRecipients, createClientDispatch } from '../../domain/dispatches/client-dispatches.ts'
import type { Recipient } from '../../domain/dispatches/dispatch.ts'
import { startDispatchOf } from '../../domain/dispatches/lifecycle.ts'
import type { Numbering } from '../../domain/numbering/numbering.ts'
import { sendersByIds } from '../../domain/senders/senders.ts'

type Given = { companyId: number; senderIds: number[]; linkBase: string; billingZone: string; now: Date }

/** Sends a small dispatch through the simulated operators, so that the cabinet has something to show. */
export async function sendDemoDispatch(pool: Pool, numbering: Numbering, given: Given): Promise<void> {
  const { companyId, senderIds, linkBase, billingZone, now } = given
  const [sender] = await sendersByIds(pool, companyId, senderIds)
  if (!sender) return
  const dispatch = dispatchUnder(sender.senderName)
  const { dispatchId } = await createClientDispatch(pool, companyId, { dispatch, once, now })
  const home = { companyId, dispatchId }
  await addRecipients(pool, numbering, home, { recipients: recipients(), linkBase, once })
  await startDispatchOf(pool, home, { billingZone, now })
}

/** Without a key: it is sent at the first start alone. */
const once = undefined

const dispatchUnder = (senderName: string) => ({
  name: 'Заказы готовы',
  channelType: 'SMS' as const,
  senderName,
  text: '{name}, ваш заказ {order} собран. Ждём вас до 21:00.',
  centerId: null,
  partsPerSecond: null,
  options: {},
  callbackUrl: null,
  callbackEvents: null,
  cascade: null,
})

/** Of MTS, MegaFon, Beeline and Tele2. */
const prefixes = ['7916', '7926', '7903', '7900']
const names = ['Анна', 'Борис', 'Вера', 'Глеб', 'Дарья', 'Егор', 'Жанна', 'Захар', 'Инна', 'Кирилл', 'Лариса', 'Максим']

/**
 * Endings that the simulated operators treat in their own ways: 0003 fails at the phone, 0004 is refused, 0002 gets its
 * receipt late, 0008 is read.
 */
const endings = ['0001', '0002', '0003', '0004', '0008', '1204', '1377', '2046', '3151', '4480', '5093']

const recipients = (): Recipient[] =>
  prefixes.flatMap((prefix, i) =>
    endings.slice(0, endings.length - i).map((ending, at) => ({
      destination: `${prefix}000${ending}`,
      substitutions: { name: names[(at + i) % names.length]!, order: `${1000 + 100 * i + at}` },
    })),
  )
