import { beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner, type TestPartner } from '../../testing/factories.ts'
import { defaultCenter, ensureCenter, listCenters, setDefaultCenter } from './traffic-centers.ts'

const db = useDatabase()
let partner: TestPartner

beforeAll(async () => {
  partner = await aPartner(db.sql)
})

test('the first use makes the default center of a company, once', async () => {
  const companyId = await aCompany(db.sql, partner)
  expect(await listCenters(db.sql, companyId)).toEqual([])
  const center = await defaultCenter(db.sql, companyId)
  expect(center).toEqual({ centerId: expect.any(Number), companyId, name: 'Default', isDefault: true })
  expect(await defaultCenter(db.sql, companyId)).toEqual(center)
  expect(await listCenters(db.sql, companyId)).toEqual([center])
})

test('calls at the same time get the same center', async () => {
  const companyId = await aCompany(db.sql, partner)
  const asked = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      n % 2 ? defaultCenter(db.sql, companyId) : ensureCenter(db.sql, companyId, 'Shop'),
    ),
  )
  expect(new Set(asked.map(({ centerId }) => centerId)).size).toBe(2)
  expect((await listCenters(db.sql, companyId)).map(({ name, isDefault }) => [name, isDefault])).toEqual([
    ['Default', true],
    ['Shop', false],
  ])
})

test('the default center is made first, so that no other center takes its name', async () => {
  const companyId = await aCompany(db.sql, partner)
  expect(await ensureCenter(db.sql, companyId, 'Default')).toMatchObject({ name: 'Default', isDefault: true })
  expect(await defaultCenter(db.sql, companyId)).toMatchObject({ name: 'Default', isDefault: true })
})

test('centers of two companies differ, even with the same name', async () => {
  const [one, other] = [await aCompany(db.sql, partner), await aCompany(db.sql, partner)]
  const shops = [await ensureCenter(db.sql, one, 'Shop'), await ensureCenter(db.sql, other, 'Shop')]
  expect(shops[0]!.centerId).not.toBe(shops[1]!.centerId)
  expect((await listCenters(db.sql, one)).map(({ companyId }) => companyId)).toEqual([one, one])
})

test.each(['', ' ', ' Shop', 'Shop ', 'x'.repeat(101)])('a center cannot be called "%s"', async name => {
  const companyId = await aCompany(db.sql, partner)
  await expect(ensureCenter(db.sql, companyId, name)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'center: must be 1 to 100 characters, without spaces around them',
  })
  expect(await listCenters(db.sql, companyId)).toEqual([])
})

describe('the default center', () => {
  const defaultsOf = async (companyId: number) =>
    (await listCenters(db.sql, companyId)).filter(({ isDefault }) => isDefault).map(center => center.name)

  test('can be changed, and set again to the same center', async () => {
    const companyId = await aCompany(db.sql, partner)
    const shop = await ensureCenter(db.sql, companyId, 'Shop')
    for (let times = 0; times < 2; times++)
      expect(await setDefaultCenter(db.sql, companyId, 'Shop')).toEqual({ ...shop, isDefault: true })
    expect(await defaultsOf(companyId)).toEqual(['Shop'])
  })

  test('does not change if the new center is unknown or belongs to another company', async () => {
    const [companyId, other] = [await aCompany(db.sql, partner), await aCompany(db.sql, partner)]
    await ensureCenter(db.sql, other, 'Theirs')
    await defaultCenter(db.sql, companyId)
    await expect(setDefaultCenter(db.sql, companyId, 'Theirs')).rejects.toMatchObject({ kind: 'not_found' })
    await expect(setDefaultCenter(db.sql, 987_654, 'Default')).rejects.toMatchObject({ kind: 'not_found' })
    expect(await defaultsOf(companyId)).toEqual(['Default'])
  })

  test('is one center after several choices at the same time', async () => {
    const companyId = await aCompany(db.sql, partner)
    const called = ['A', 'B', 'C', 'D']
    for (const one of called) await ensureCenter(db.sql, companyId, one)
    await Promise.all([...called, ...called].map(one => setDefaultCenter(db.sql, companyId, one)))
    expect(await defaultsOf(companyId)).toEqual([expect.stringMatching(/^[A-D]$/)])
  })
})
