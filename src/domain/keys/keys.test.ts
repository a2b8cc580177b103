import { createHash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner, type TestPartner } from '../../testing/factories.ts'
import { aKey } from '../../testing/messaging-api.ts'
import { updateCompany } from '../companies/companies.ts'
import { listCenters } from '../traffic-centers/traffic-centers.ts'
import { keyTypes } from './key.ts'
import {
  activateKey,
  companyOfKey,
  deactivateKey,
  findKey,
  listAllKeys,
  listKeys,
  reissueKey,
  restrictKey,
} from './keys.ts'

const db = useDatabase()
let partner: TestPartner
let companyId: number

beforeAll(async () => {
  partner = await aPartner(db.sql)
})

beforeEach(async () => {
  companyId = await aCompany(db.sql, partner)
})

const rowsOfKeys = async () => [
  ...(await db.sql`select * from api_key_ids order by key_id`),
  ...(await db.sql`select * from api_keys order by key_id`),
]

describe('a new key', () => {
  test.each(keyTypes)('of the type %s is found by its value', async type => {
    const { keyId, key } = await aKey(db.sql, companyId, type)
    expect(await findKey(db.sql, key)).toEqual({
      keyId,
      companyId,
      type,
      active: true,
      addresses: [],
      trafficCenterId: type === 'MESSAGE' ? expect.any(Number) : null,
      companyStatus: 'ACTIVE',
    })
  })

  test('is Base64 of an id and a secret, and never the same twice', async () => {
    const keys = [await aKey(db.sql, companyId), await aKey(db.sql, companyId)].map(({ key }) => key)
    for (const key of keys) expect(Buffer.from(key, 'base64').toString()).toMatch(/^[\w-]{12}:[\w-]{32}$/)
    const halves = keys.flatMap(key => Buffer.from(key, 'base64').toString().split(':'))
    expect(new Set(halves).size).toBe(4)
  })

  test('is stored only as its SHA-256 hash', async () => {
    const { keyId, key } = await aKey(db.sql, companyId)
    const [row] = await db.sql`select key_hash from api_key_ids where key_id = ${keyId}`
    expect(row!.keyHash).toEqual(createHash('sha256').update(key).digest())
    const [id, secret] = Buffer.from(key, 'base64').toString().split(':')
    const kept = JSON.stringify(await rowsOfKeys())
    for (const piece of [key, id!, secret!]) expect(kept).not.toContain(piece)
  })

  test('is found by its exact value alone', async () => {
    const { key } = await aKey(db.sql, companyId)
    const plain = Buffer.from(key, 'base64').toString()
    for (const other of ['', plain, ` ${key}`, `${key} `, key.toLowerCase(), key.slice(0, -1), `${key}=`]) {
      expect(await findKey(db.sql, other), other).toBeUndefined()
    }
  })

  test('may be limited to addresses, each stored once', async () => {
    const list = ['192.0.2.0/24', '2001:db8::1', '192.0.2.0/24']
    const { key } = await aKey(db.sql, companyId, 'ENTITY', { addresses: list })
    expect(await findKey(db.sql, key)).toMatchObject({ addresses: ['192.0.2.0/24', '2001:db8::1'] })
  })

  test.each([
    ['an address that is none', { addresses: ['192.0.2.1', '192.0.2.0/40'] }, /^addresses: .*not "192\.0\.2\.0\/40"$/],
    ['a center without a name', { center: '' }, /^center: must be 1 to 100 characters/],
  ])('with %s is refused, and nothing is left of it', async (_, options, message) => {
    const before = await rowsOfKeys()
    const refusal = await aKey(db.sql, companyId, 'MESSAGE', options).catch(error => error)
    expect(refusal).toMatchObject({ kind: 'invalid', message: expect.stringMatching(message) })
    expect(await rowsOfKeys()).toEqual(before)
    expect(await listCenters(db.sql, companyId)).toEqual([])
  })

  test('of a company that does not exist is refused', async () => {
    await expect(aKey(db.sql, 987_654)).rejects.toMatchObject({ kind: 'not_found', message: 'Company not found' })
  })
})

describe('the traffic center of a key', () => {
  test('is the default center unless another is named; keys may share it', async () => {
    const keys = [
      await aKey(db.sql, companyId),
      await aKey(db.sql, companyId, 'MESSAGE', { center: 'Shop' }),
      await aKey(db.sql, companyId),
      await aKey(db.sql, companyId, 'MESSAGE', { center: 'Shop' }),
    ]
    const [standard, shop] = await listCenters(db.sql, companyId)
    const found = await Promise.all(keys.map(({ key }) => findKey(db.sql, key)))
    expect(found.map(key => key!.trafficCenterId)).toEqual(
      [standard, shop, standard, shop].map(center => center!.centerId),
    )
  })

  test('is for MESSAGE keys alone', async () => {
    for (const type of keyTypes.filter(type => type !== 'MESSAGE')) {
      await expect(aKey(db.sql, companyId, type, { center: 'Shop' })).rejects.toMatchObject({
        kind: 'invalid',
        message: 'center: only a MESSAGE key belongs to a traffic center',
      })
    }
  })
})

describe('the life of a key', () => {
  test('a deactivated key is found as such, until it is activated', async () => {
    const { keyId, key } = await aKey(db.sql, companyId)
    expect(await deactivateKey(db.sql, companyId, keyId)).toMatchObject({ keyId, active: false })
    expect(await findKey(db.sql, key)).toMatchObject({ keyId, active: false })
    expect(await activateKey(db.sql, companyId, keyId)).toMatchObject({ keyId, active: true })
    expect(await findKey(db.sql, key)).toMatchObject({ keyId, active: true })
  })

  test('a reissued key keeps everything but its value, and the old value finds nothing', async () => {
    const { keyId, key } = await aKey(db.sql, companyId, 'MESSAGE', { center: 'Shop', addresses: ['192.0.2.1'] })
    const before = await findKey(db.sql, key)
    const reissued = await reissueKey(db.sql, companyId, keyId)
    expect(reissued).toEqual({ keyId, key: expect.any(String) })
    expect(await findKey(db.sql, key)).toBeUndefined()
    expect(await findKey(db.sql, reissued.key)).toEqual(before)
  })

  test('a deactivated key stays so when it is reissued', async () => {
    const { keyId } = await aKey(db.sql, companyId)
    await deactivateKey(db.sql, companyId, keyId)
    const { key } = await reissueKey(db.sql, companyId, keyId)
    expect(await findKey(db.sql, key)).toMatchObject({ active: false })
  })

  test('its addresses can be changed and lifted; a wrong list changes nothing', async () => {
    const { keyId, key } = await aKey(db.sql, companyId)
    expect(await restrictKey(db.sql, companyId, keyId, ['192.0.2.1'])).toMatchObject({ addresses: ['192.0.2.1'] })
    await expect(restrictKey(db.sql, companyId, keyId, ['home'])).rejects.toMatchObject({ kind: 'invalid' })
    expect(await findKey(db.sql, key)).toMatchObject({ addresses: ['192.0.2.1'] })
    expect(await restrictKey(db.sql, companyId, keyId, [])).toMatchObject({ addresses: [] })
  })

  test('a call with the id of another company changes nothing', async () => {
    const { keyId } = await aKey(db.sql, companyId)
    const other = await aCompany(db.sql, partner)
    const before = await rowsOfKeys()
    for (const attempt of [
      () => deactivateKey(db.sql, other, keyId),
      () => activateKey(db.sql, other, keyId),
      () => restrictKey(db.sql, other, keyId, ['192.0.2.1']),
      () => reissueKey(db.sql, other, keyId),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ kind: 'not_found', message: 'Key not found' })
    }
    expect(await rowsOfKeys()).toEqual(before)
  })

  test('the key of a disabled company is found, and marked as such', async () => {
    const { key } = await aKey(db.sql, companyId)
    await updateCompany(db.sql, partner, companyId, { status: 'DISABLED' })
    expect(await findKey(db.sql, key)).toMatchObject({ active: true, companyStatus: 'DISABLED' })
  })
})

describe('the list of keys', () => {
  test('has the keys of the company, the oldest first, without values', async () => {
    await aKey(db.sql, await aCompany(db.sql, partner))
    const shop = await aKey(db.sql, companyId, 'MESSAGE', { center: 'Shop', addresses: ['192.0.2.1'] })
    const entity = await aKey(db.sql, companyId, 'ENTITY')
    await deactivateKey(db.sql, companyId, entity.keyId)
    const common = { companyId, name: '', createdAt: expect.any(Date) }
    expect(await listKeys(db.sql, companyId)).toEqual([
      {
        ...common,
        keyId: shop.keyId,
        type: 'MESSAGE',
        active: true,
        addresses: ['192.0.2.1'],
        trafficCenterId: expect.any(Number),
        trafficCenterName: 'Shop',
      },
      {
        ...common,
        keyId: entity.keyId,
        type: 'ENTITY',
        active: false,
        addresses: [],
        trafficCenterId: null,
        trafficCenterName: null,
      },
    ])
  })

  test('has the keys of all companies for staff', async () => {
    const mine = await aKey(db.sql, companyId)
    const others = await aKey(db.sql, await aCompany(db.sql, partner))
    const all = (await listAllKeys(db.sql)).map(({ keyId }) => keyId)
    expect(all).toEqual(expect.arrayContaining([mine.keyId, others.keyId]))
    expect(await companyOfKey(db.sql, mine.keyId)).toBe(companyId)
    await expect(companyOfKey(db.sql, 987_654)).rejects.toMatchObject({ kind: 'not_found' })
  })
})
