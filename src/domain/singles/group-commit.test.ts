import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { GroupCommit } from './group-commit.ts'

const COMPANY = 1
const echo = (items: string[]) => items.map(item => `answer to ${item}`)

/** Records the groups. A group waits until the test ends it. `reachCommit`: only the commit is left. */
function aWriter() {
  const groups: { items: string[]; reachCommit: () => void; end: (error?: Error) => void }[] = []
  const commit = new GroupCommit<string, string>((_, items, onWritten) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    const end = (error?: Error) => {
      onWritten?.()
      if (error) reject(error)
      else resolve(echo(items))
    }
    groups.push({ items, reachCommit: () => onWritten?.(), end })
    return promise
  })
  return { groups, commit }
}

/** Some turns of the event loop. */
const turns = async () => {
  for (let i = 0; i < 5; i++) await turn()
}

const until = (groups: unknown[], count: number) => eventually(() => expect(groups).toHaveLength(count))

test('each request gets the answers to its own items, also beside requests of other sizes', async () => {
  const { groups, commit } = aWriter()
  const written = [['a'], ['b', 'c'], ['d']].map(items => commit.write(COMPANY, items))
  await until(groups, 1)
  groups[0]?.end()
  expect(await Promise.all(written)).toEqual([echo(['a']), echo(['b', 'c']), echo(['d'])])
  expect(groups.map(({ items }) => items)).toEqual([['a', 'b', 'c', 'd']])
})

test('requests that arrive while a group is written form the next group', async () => {
  const { groups, commit } = aWriter()
  const first = commit.write(COMPANY, ['a'])
  await until(groups, 1)
  const later = [commit.write(COMPANY, ['b']), commit.write(COMPANY, ['c'])]
  groups[0]?.end()
  await until(groups, 2)
  groups[1]?.end()
  expect(await Promise.all([first, ...later])).toEqual([echo(['a']), echo(['b']), echo(['c'])])
  expect(groups[1]?.items).toEqual(['b', 'c'])
})

test('the next group begins while the group before commits, if there are few requests', async () => {
  const { groups, commit } = aWriter()
  const first = commit.write(COMPANY, ['a'])
  await until(groups, 1)
  const second = commit.write(COMPANY, ['b'])
  groups[0]?.reachCommit()
  await until(groups, 2)
  for (const group of groups) group.end()
  expect(await Promise.all([first, second])).toEqual([echo(['a']), echo(['b'])])
})

const tenOf = (name: string) => Array.from({ length: 10 }, (_, i) => `${name}${i}`)

test('clients that were just answered join the next group with their next requests', async () => {
  const { groups, commit } = aWriter()
  const first = tenOf('a').map(async item => {
    await commit.write(COMPANY, [item])
    return commit.write(COMPANY, [`next ${item}`])
  })
  await until(groups, 1)
  const second = tenOf('b').map(item => commit.write(COMPANY, [item]))
  groups[0]?.end()
  await until(groups, 2)
  expect(groups[1]?.items).toEqual([...tenOf('b'), ...tenOf('next a')])
  groups[1]?.end()
  await Promise.all([...first, ...second])
})

test('the next group does not wait for long for clients that do not come back', async () => {
  const { groups, commit } = aWriter()
  const first = tenOf('a').map(item => commit.write(COMPANY, [item]))
  await until(groups, 1)
  const second = tenOf('b').map(item => commit.write(COMPANY, [item]))
  groups[0]?.end()
  await Promise.all(first)
  await until(groups, 2)
  expect(groups[1]?.items).toEqual(tenOf('b'))
  groups[1]?.end()
  await Promise.all(second)
})

test('a group that waits for a lock does not hold up the next one, also when its timer fires early', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { groups, commit } = aWriter()
  const first = tenOf('a').map(item => commit.write(COMPANY, [item]))
  await turns()
  const second = tenOf('b').map(item => commit.write(COMPANY, [item]))
  vi.advanceTimersByTime(50)
  await turns()
  expect(groups).toHaveLength(2)
  for (const group of groups) group.end()
  await Promise.all([...first, ...second])
})

test('a commit that takes seconds does not make the next group wait for seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { groups, commit } = aWriter()
  const first = tenOf('a').map(item => commit.write(COMPANY, [item]))
  await turns()
  groups[0]?.reachCommit()
  await turns()
  vi.advanceTimersByTime(5000)
  groups[0]?.end()
  await turns()
  const second = commit.write(COMPANY, ['b'])
  await turns()
  vi.advanceTimersByTime(50)
  await turns()
  expect(groups).toHaveLength(2)
  groups[1]?.end()
  await Promise.all([...first, second])
})

test('a group that fails is written again request by request, and only the bad request fails', async () => {
  const commit = new GroupCommit<string, string>(async (_, items) => {
    if (items.includes('bad')) throw new Error('refused')
    return echo(items)
  })
  const outcomes = await Promise.allSettled([commit.write(COMPANY, ['good']), commit.write(COMPANY, ['bad'])])
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: echo(['good']) },
    { status: 'rejected', reason: { message: 'refused' } },
  ])
})

test('a group whose connection was lost is not written again, because it may be committed', async () => {
  const lost = Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' })
  const { groups, commit } = aWriter()
  const written = Promise.allSettled([commit.write(COMPANY, ['a']), commit.write(COMPANY, ['b'])])
  await until(groups, 1)
  groups[0]?.end(lost)
  expect(await written).toMatchObject([{ reason: lost }, { reason: lost }])
  expect(groups).toHaveLength(1)
})

test('a group has at most 2000 items, but a larger request is written whole', async () => {
  const sizes: number[] = []
  const commit = new GroupCommit<number, number>(async (_, items) => {
    sizes.push(items.length)
    return items
  })
  const request = (size: number) => commit.write(COMPANY, Array<number>(size).fill(0))
  await Promise.all([request(2500), request(1500), request(500), request(1)])
  expect(sizes).toEqual([2500, 2000, 1])
})
