import { expect, test } from 'vitest'
import { nodeAway } from '../testing/missing-node.ts'
import { byCompany, oneByOne, sweep } from './by-company.ts'

const away = () => Object.assign(new Error('connection to the remote node failed'), { code: '08006' })
const items = [
  { companyId: 1, n: 1 },
  { companyId: 2, n: 2 },
  { companyId: 1, n: 3 },
]

test('each company has one call with its items', async () => {
  const calls: [number, number[]][] = []
  const results = await byCompany(items, async (companyId, own) => {
    calls.push([companyId, own.map(({ n }) => n)])
    return own.map(({ n }) => n * 10)
  })
  expect(calls).toEqual([
    [1, [1, 3]],
    [2, [2]],
  ])
  expect(results).toEqual([10, 30, 20])
})

test('a company whose node is away is left out, and the others have their results', async () => {
  const results = await byCompany(items, async (companyId, own) => {
    if (companyId === 1) throw away()
    return own
  })
  expect(results).toEqual([{ companyId: 2, n: 2 }])
})

test('when the work fails for every company, it fails', async () => {
  await expect(byCompany(items, async () => Promise.reject(away()))).rejects.toThrow('remote node')
})

test('at most ten companies are served at once, and none after the first ten when all of them fail', async () => {
  const many = Array.from({ length: 35 }, (_, n) => ({ companyId: n }))
  let [now, most] = [0, 0]
  const served = await byCompany(many, async (_, own) => {
    most = Math.max(most, ++now)
    await new Promise(resolve => setImmediate(resolve))
    now -= 1
    return own
  })
  expect(served).toEqual(many)
  expect(most).toBe(10)
  let calls = 0
  const failing = byCompany(many, async () => {
    calls += 1
    throw new Error('the database is away')
  })
  await expect(failing).rejects.toThrow('away')
  expect(calls).toBe(10)
})

test('companies behind the first ten are served also when the node of all ten is away', async () => {
  const many = Array.from({ length: 25 }, (_, n) => ({ companyId: n }))
  const served = await byCompany(many, async (companyId, own) => {
    if (companyId < 20) throw nodeAway()
    return own
  })
  expect(served).toEqual(many.slice(20))
})

test('the others do not wait for a company whose work is slow', async () => {
  const many = Array.from({ length: 25 }, (_, n) => ({ companyId: n }))
  const { promise: areServed, resolve } = Promise.withResolvers<void>()
  let left = 24
  const served = await byCompany(many, async (companyId, own) => {
    if (companyId === 0) await areServed
    else if (--left === 0) resolve()
    return own
  })
  expect(served).toEqual(many)
})

test('one by one, further items of a company are left out once its node is away', async () => {
  const tried: number[] = []
  await oneByOne(items, async ({ companyId, n }) => {
    tried.push(n)
    if (companyId === 1) throw nodeAway()
  })
  expect(tried).toEqual([1, 2])
  await expect(oneByOne(items, async () => Promise.reject(away()))).rejects.toThrow('remote node')
})

test('no company means no call', async () => {
  expect(await byCompany([], async () => Promise.reject(new Error('called')))).toEqual([])
})

test('a sweep goes on while its batches are full, and stops after the most batches', async () => {
  let left = 25
  const find = async (limit: number) => Array.from({ length: Math.min(limit, left) }, (_, n) => ({ companyId: n % 3 }))
  const remove = async (_: number, keys: { companyId: number }[]) => {
    left -= keys.length
    return keys
  }
  await sweep(find, remove, { batch: 10, mostBatches: 2 })
  expect(left).toBe(5)
  await sweep(find, remove, { batch: 10, mostBatches: 2 })
  expect(left).toBe(0)
})
