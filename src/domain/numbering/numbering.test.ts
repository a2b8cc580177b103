import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { Pool, Transaction } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { brandIds, brandOf } from './brand.ts'
import { importPorted, importRegister, saveVirtualOperator } from './imports.ts'
import { classify, loadNumbering, type NumberingWatch, watchNumbering } from './numbering.ts'

const db = useDatabase()

afterEach(async () => {
  await db.sql`truncate numbering_ranges, ported_numbers`
  await db.sql`update numbering_version set version = version + 1`
})

const heading = '\uFEFFАВС/ DEF;От;До;Емкость;Оператор;Регион;Территория ГАР;ИНН'
const mts = '916;0000000;0999999;1000000;ПАО "МТС";г. Москва;Город Москва;7740000076'
const tele2 = '916;1000000;1999999;1000000;ООО "Т2 Мобайл";Омская обл.;Омская область;7743895280'
const landline = '495;1000000;1999999;1000000;ПАО МГТС;г. Москва;Город Москва;7710016640'

const file = (...lines: string[]) => Readable.from([Buffer.from(lines.join('\r\n'))])
const lookup = async (digits: string) => (await loadNumbering(db.sql)).lookup(digits)
const versionOf = async () => (await loadNumbering(db.sql)).version

test('a slow machine may take its time to put the plan in order between two statements', async () => {
  let limit = ''
  const watched = {
    begin: (options: string, work: (tx: Transaction) => Promise<unknown>) =>
      db.sql.begin(options, async tx => {
        const result = await work(tx)
        const [row] = await tx`select current_setting('idle_in_transaction_session_timeout') as limit`
        limit = row!.limit
        return result
      }),
  }
  await loadNumbering(watched as unknown as Pool)
  expect(limit).toBe('1min')
})

describe('with nothing imported', () => {
  test('the carried plan serves every code', async () => {
    expect(await lookup('79161234567')).toMatchObject({ brandId: brandIds.MTS, zone: 'Europe/Moscow' })
    expect(await lookup('74951234567')).toBeUndefined()
  })

  test('virtual operators belong to the network that carries them', async () => {
    const numbering = await loadNumbering(db.sql)
    expect(numbering.lookup('79996900000')).toMatchObject({ operator: 'ООО "Скартел"', brandId: brandIds.MEGAFON })
  })
})

describe('classifying a destination', () => {
  test.each([
    ['+7 (916) 123-45-67', { kind: 'russian', digits: '79161234567', brandId: 1 }],
    ['89161234567', { kind: 'russian', digits: '79161234567', brandId: 1 }],
    ['+77011234567', { kind: 'foreign', digits: '77011234567', country: 'KZ' }],
    ['4915112345678', { kind: 'foreign', digits: '4915112345678', country: 'DE' }],
    ['hello', { kind: 'refused' }],
    ['7916123456', { kind: 'refused' }],
    ['71234567890', { kind: 'refused' }],
    ['79351234567', { kind: 'refused' }],
    ['999123456789', { kind: 'refused' }],
  ])('%s', async (raw, expected) => {
    expect(classify(await loadNumbering(db.sql), raw)).toMatchObject(expected)
  })

  test('a Russian number comes with its place', async () => {
    const classified = classify(await loadNumbering(db.sql), '79161234567')
    expect(classified).toHaveProperty('place.region', 'Москва и Московская область')
  })
})

describe('the register', () => {
  test('replaces the ranges of the codes it contains, and only those', async () => {
    const progress: number[] = []
    const result = await importRegister(db.sql, file(heading, mts, tele2, landline, ''), {}, n => progress.push(n))
    expect(result).toEqual({ ranges: 3, codes: 2, unknownRegions: [] })
    expect(progress.at(-1)).toBe(3)

    const numbering = await loadNumbering(db.sql)
    expect(numbering.lookup('79160999999')).toMatchObject({ brandId: 1, operator: 'ПАО "МТС"', region: 'Москва' })
    expect(numbering.lookup('79161000000')).toMatchObject({ brandId: 4, zone: 'Asia/Omsk' })
    expect(numbering.lookup('74951000000')).toMatchObject({ brandId: 0, operator: 'ПАО МГТС' })
    expect(numbering.lookup('79162000000')).toBeUndefined()
    expect(numbering.lookup('79261234567')).toMatchObject({ brandId: 3 })

    await importRegister(db.sql, file(tele2))
    expect(await lookup('79160000000')).toBeUndefined()
    expect(await lookup('74951000000')).toBeDefined()
  })

  test('names the regions it does not know', async () => {
    const line = mts.replace('г. Москва;Город Москва', 'Атлантида;Атлантида')
    const result = await importRegister(db.sql, file(heading, line, tele2))
    expect(result.unknownRegions).toEqual(['Атлантида'])
    expect(await lookup('79160000000')).toMatchObject({ region: 'Атлантида', zone: 'Europe/Moscow' })
  })

  const reversed = mts.replace('0000000', '1000000')
  const overlapping = tele2.replace('1000000', '0999999')
  const latin1 = Buffer.from([0xcf, 0xc0, 0xce, 0x0a])
  test.each([
    ['a line without its columns', file(heading, mts, '916;1000000'), /^line 3: must have 8 columns/],
    ['a reversed range', file(heading, tele2, '', reversed), /^line 4: the range ends \(0999999\) before it begins/],
    ['an overlap', file(heading, overlapping, mts), /^line 3: the range overlaps the one of line 2/],
    ['a line twice', file(heading, mts, mts), /^line 3: the range overlaps the one of line 2/],
    ['a code of Kazakhstan', file(mts.replace('916', '701')), /^line 1: "701" is not a code/],
    ['a heading alone', file(heading), /no entries/],
    ['an empty file', file(), /no entries/],
    ['another encoding', Readable.from([latin1]), /not in UTF-8/],
    ['no lines at all', Readable.from(['x'.repeat(200_000)]), /not made of lines/],
  ])('with %s changes nothing', async (_, source, message) => {
    await importRegister(db.sql, file(tele2))
    const before = await versionOf()
    await expect(importRegister(db.sql, source)).rejects.toThrow(message)
    expect(await versionOf()).toBe(before)
    expect(await lookup('79161000000')).toMatchObject({ brandId: 4 })
    expect(await lookup('79160000000')).toBeUndefined()
  })

  test('reads a written file back, for any division into pieces', async () => {
    const blocks = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(blocks, fc.integer({ min: 1, max: 200 }), async (starts, pieceSize) => {
        const lines = starts.map(start => blockLine(start)).join('\n')
        await importRegister(db.sql, pieces(Buffer.from(lines), pieceSize))
        const numbering = await loadNumbering(db.sql)
        for (let block = 0; block < 100; block += 1) {
          const expected = starts.includes(block) ? `Оператор ${block}` : undefined
          expect(numbering.lookup(`7999${String(block).padStart(2, '0')}99999`)?.operator).toBe(expected)
        }
      }),
      { numRuns: 15 },
    )
  })

  const blockLine = (block: number) => {
    const digits = String(block).padStart(2, '0')
    return `999;${digits}00000;${digits}99999;100000;Оператор ${block};-;Омская область;7700000000`
  }

  async function* pieces(bytes: Buffer, size: number) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
})

describe('ported numbers', () => {
  test('win over their range and keep its region', async () => {
    await importRegister(db.sql, file(mts))
    const lines = ['number;brand', '79160000001;TELE2', '8 916 000-00-02;beeline', '', '79160000003 ; Mts ', '']
    expect(await importPorted(db.sql, file(...lines))).toEqual({ lines: 3, ported: 3 })
    expect(await lookup('79160000001')).toEqual({
      brandId: 4,
      operator: 'TELE2',
      region: 'Москва',
      zone: 'Europe/Moscow',
    })
    expect(await lookup('79160000002')).toMatchObject({ brandId: 2 })
    expect(await lookup('79160000003')).toMatchObject({ brandId: 1 })
    expect(await lookup('79160000004')).toMatchObject({ brandId: 1, operator: 'ПАО "МТС"' })
  })

  test('exist even without a range', async () => {
    await importPorted(db.sql, file('79359999999;MTS'))
    expect(await lookup('79359999999')).toMatchObject({ brandId: 1, region: 'Российская Федерация' })
    expect(await lookup('79359999998')).toBeUndefined()
  })

  test('are added to those known, or replace them all', async () => {
    await importPorted(db.sql, file('9160000001;TELE2', '79160000002;TELE2'))
    expect(await importPorted(db.sql, file('79160000002;MEGAFON'))).toEqual({ lines: 1, ported: 2 })
    expect(await lookup('79160000001')).toMatchObject({ brandId: 4 })
    expect(await lookup('79160000002')).toMatchObject({ brandId: 3 })

    expect(await importPorted(db.sql, file('79160000002;BEELINE'), { replace: true })).toEqual({
      lines: 1,
      ported: 1,
    })
    expect(await lookup('79160000001')).toMatchObject({ brandId: 1 })
    expect(await lookup('79160000002')).toMatchObject({ brandId: 2 })
  })

  test('listed twice are where the last line says', async () => {
    await importPorted(db.sql, file('79160000001;TELE2', '79160000001;MEGAFON', '79160000001;BEELINE'))
    expect(await lookup('79160000001')).toMatchObject({ brandId: 2 })
  })

  test.each([
    ['79160000002', /^line 3: must be "number;brand"/],
    ['79160000002;MTS;1', /^line 3: must be "number;brand"/],
    ['79160000002;YOTA', /^line 3: "YOTA" is not a brand: must be MTS, BEELINE, MEGAFON, TELE2/],
    ['77010000002;MTS', /^line 3: "77010000002" is not a Russian number/],
    ['number;brand', /^line 3: "number" is not a Russian number/],
  ])('with the bad line "%s" change nothing', async (line, message) => {
    const before = await versionOf()
    const source = file('number;brand', '79160000001;TELE2', line)
    await expect(importPorted(db.sql, source, { replace: true })).rejects.toThrow(message)
    expect(await versionOf()).toBe(before)
    expect(await lookup('79160000001')).toMatchObject({ brandId: 1 })
  })

  test('read a written file back', async () => {
    const number = fc.integer({ min: 79000000000, max: 79999999999 })
    const entries = fc.uniqueArray(fc.tuple(number, fc.integer({ min: 1, max: 4 })), {
      selector: ([number]) => number,
      minLength: 1,
    })
    await fc.assert(
      fc.asyncProperty(entries, async ported => {
        const lines = ported.map(([number, brandId]) => `${number};${brandOf(brandId)}`)
        await importPorted(db.sql, file(...lines), { replace: true })
        const numbering = await loadNumbering(db.sql)
        for (const [number, brandId] of ported) expect(numbering.lookup(String(number))?.brandId).toBe(brandId)
      }),
      { numRuns: 15 },
    )
  })
})

test('the carrier of a virtual operator can be changed', async () => {
  const skartel = { inn: '7701725181', name: 'ООО "Скартел"', brandId: brandIds.TELE2 as number }
  await saveVirtualOperator(db.sql, skartel)
  expect(await lookup('79996900000')).toMatchObject({ brandId: brandIds.TELE2 })
  await saveVirtualOperator(db.sql, { ...skartel, brandId: brandIds.MEGAFON })
  expect(await lookup('79996900000')).toMatchObject({ brandId: brandIds.MEGAFON })
})

describe('a watch', () => {
  let watch: NumberingWatch | undefined
  afterEach(() => watch?.stop())
  const brandNow = () => watch!.current().lookup('79160000001')?.brandId

  test('takes up a change by itself', async () => {
    watch = await watchNumbering(db.sql, { pollMs: 10, onError: () => {} })
    expect(brandNow()).toBe(1)
    await importPorted(db.sql, file('79160000001;TELE2'))
    await eventually(() => expect(brandNow()).toBe(4))
  })

  test('takes up a change at once when asked, and keeps its plan while nothing changes', async () => {
    watch = await watchNumbering(db.sql, { pollMs: 60_000, onError: () => {} })
    const before = watch.current()
    await watch.refresh()
    expect(watch.current()).toBe(before)
    await importPorted(db.sql, file('79160000001;TELE2'))
    await watch.refresh()
    expect(brandNow()).toBe(4)
  })

  test('keeps the plan it has when the database is away, tells it, and goes on', async () => {
    const errors: unknown[] = []
    watch = await watchNumbering(db.sql, { pollMs: 10, onError: error => errors.push(error) })
    await db.sql`alter table numbering_version rename to numbering_version_away`
    await eventually(() => expect(errors.length).toBeGreaterThan(0))
    expect(brandNow()).toBe(1)
    await db.sql`alter table numbering_version_away rename to numbering_version`
    await importPorted(db.sql, file('79160000001;TELE2'))
    await eventually(() => expect(brandNow()).toBe(4))
  })
})
