import { expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { GroupCommit } from './group-commit.ts'

const COMPANY = 1
const echo = (items: string[]) => items.map(item => `answer to ${item}`)

/** Records the groups. A group waits until the test ends it. */
function aWriter() {
  const groups: { items: string[]; end: (error?: Error) => void }[] = []
  const commit = new GroupCommit<string, string>((_, items, onWritten) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    const end = (error?: Error) => {
      onWritten?.()
      if (error) reject(error)
      else resolve(echo(items))
    }
    groups.push({ items, end })
    return promise
  })
  return { groups, commit }
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
