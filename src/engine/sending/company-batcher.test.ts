import { expect, test } from 'vitest'
import { batchByCompany } from './company-batcher.ts'

const asked = (companyId: number, place: number) => ({ companyId, place })

test('requests of one turn of the event loop share a call for each company', async () => {
  const calls: [number, number[]][] = []
  const load = batchByCompany(async (companyId, keys: ReturnType<typeof asked>[]) => {
    calls.push([companyId, keys.map(({ place }) => place)])
    return keys.map(({ place }) => `${companyId}/${place}`)
  })
  const values = await Promise.all([load(asked(1, 1)), load(asked(2, 1)), load(asked(1, 2))])
  expect(values).toEqual(['1/1', '2/1', '1/2'])
  expect(calls).toEqual([
    [1, [1, 2]],
    [2, [1]],
  ])
})

test('a later request makes a new call', async () => {
  let calls = 0
  const load = batchByCompany(async (_, keys: ReturnType<typeof asked>[]) => keys.map(() => ++calls))
  expect(await load(asked(1, 1))).toBe(1)
  expect(await load(asked(1, 2))).toBe(2)
})

test('an error of one company does not affect another', async () => {
  const load = batchByCompany(async (companyId, keys: ReturnType<typeof asked>[]) => {
    if (companyId === 1) throw new Error('refused')
    return keys.map(() => 'loaded')
  })
  const [first, second] = await Promise.allSettled([load(asked(1, 1)), load(asked(2, 1))])
  expect(first.status).toBe('rejected')
  expect(second).toMatchObject({ value: 'loaded' })
})
