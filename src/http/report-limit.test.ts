import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { ReportLimit, streamOf } from './report-limit.ts'

const open = () => new Readable({ read() {} })

test('a partner reads so many reports at a time, and another when one is finished', async () => {
  const limit = new ReportLimit(10, 2)
  const [first] = [limit.admit(1, open), limit.admit(1, open)]
  expect(() => limit.admit(1, open)).toThrow(
    expect.objectContaining({ kind: 'too_many_requests', message: 'At most 2 reports can be read at a time' }),
  )
  limit.admit(2, open)
  first.destroy()
  await eventually(() => expect(limit.admit(1, open)).toBeInstanceOf(Readable))
})

test('all partners together read so many reports at a time', async () => {
  const limit = new ReportLimit(2, 2)
  const [first] = [limit.admit(1, open), limit.admit(2, open)]
  expect(() => limit.admit(3, open)).toThrow(expect.objectContaining({ kind: 'not_ready' }))
  first.destroy()
  await eventually(() => expect(limit.admit(3, open)).toBeInstanceOf(Readable))
})

async function* endless(left: { closed: boolean }) {
  try {
    for (;;) yield 'line\r\n'
  } finally {
    left.closed = true
  }
}

test('a reader that takes nothing loses its report, and nothing more is read for it', async () => {
  const source = { closed: false }
  const stream = streamOf(endless(source), 20)
  stream.once('data', () => stream.pause())
  await eventually(() => expect([stream.destroyed, source.closed]).toEqual([true, true]))
})

test('a report that is never read at all is closed too', async () => {
  const stream = streamOf(endless({ closed: false }), 20)
  await eventually(() => expect(stream.destroyed).toBe(true))
})

test('a slow reader gets the report whole', async () => {
  const pieces = ['a', 'b', 'c', 'd']
  let read = ''
  for await (const piece of streamOf(Readable.from(pieces), 60_000)) read += piece
  expect(read).toBe('abcd')
})
