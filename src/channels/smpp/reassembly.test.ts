import { expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import type { Inbound } from '../channel.ts'
import { status } from './protocol/status.ts'
import { Reassembly } from './reassembly.ts'

/** Long messages of two parts. `add` adds the first part, unless told otherwise. */
function aReassembly(most: number, passOn: (message: Inbound) => Promise<void>) {
  const answers: [number, number][] = []
  const reassembly = new Reassembly(passOn, most)
  const add = (number: number, part = 1) =>
    reassembly.add(
      { from: `7916000000${number}`, to: 'Tidings', text: `${number}.${part} `, receivedAt: new Date() },
      { reference: '1', part, parts: 2 },
      code => answers.push([number, code]),
    )
  return { add, answers, stop: () => reassembly.stop() }
}

test('while the database is away, only so many messages are started: further parts are sent again', async () => {
  const { add, answers, stop } = aReassembly(2, () => Promise.reject(new Error('away')))
  for (const number of [1, 2, 3, 4, 5]) add(number)
  await eventually(() => expect(answers.filter(([number]) => number > 2).length).toBe(3))
  for (const number of [3, 4, 5]) expect(answers).toContainEqual([number, status.ESME_RX_T_APPN])
  add(2, 2) // a started message still takes parts
  await eventually(() => expect(answers.filter(([number]) => number === 2).length).toBe(2))
  await stop()
})

test('when the database is there, the oldest message is passed on to make room', async () => {
  const passed: string[] = []
  const { add, answers, stop } = aReassembly(2, async ({ text }) => void passed.push(text))
  for (const number of [1, 2, 3]) add(number)
  await eventually(() => expect(answers).toContainEqual([1, status.ESME_ROK]))
  expect(passed).toEqual(['1.1 '])
  add(3)
  add(3, 2)
  await eventually(() => expect(passed).toEqual(['1.1 ', '3.1 3.2 ']))
  expect(answers.filter(([number]) => number === 3)).toEqual([
    [3, status.ESME_RX_T_APPN],
    [3, status.ESME_ROK],
    [3, status.ESME_ROK],
  ])
  await stop()
})
