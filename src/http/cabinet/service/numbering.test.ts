import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { changeKinds, compareRanges } from '../../../domain/numbering/difference.ts'
import { exportNumbering } from '../../../domain/numbering/exports.ts'
import { importPorted, importRegister } from '../../../domain/numbering/imports.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import type { PlanRange } from '../../../domain/numbering/register.ts'
import { forgetOldUploads, PIECE_BYTES } from '../../../domain/numbering/uploads.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner } from '../../../testing/factories.ts'
import type { LookupAnswer, NewUpload, NumberingAnswer, UploadAnswer } from './numbering.ts'

const { api } = useApp('/docs/partner.json')
let admin: CabinetBrowser

beforeAll(async () => {
  admin = await signedIn(staff, 'admin')
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const { login } = await aPerson(api.sql, ...person)
  const browser = new CabinetBrowser(() => api.app)
  expect((await browser.signIn(login)).status).toBe(200)
  return browser
}

const mts = 'ПАО "МТС";г. Москва;г. Москва;7740000076'
const tele2 = 'ООО "Т2 Мобайл";г. Москва;г. Москва;7743895280'
const heading = 'АВС/ DEF;От;До;Емкость;Оператор;Регион;Территория ГАР;ИНН'
const line = (first: string, last: string, holder = mts) => `916;${first};${last};1;${holder}`
const register = [line('0000000', '0999999'), line('1000000', '1999999'), line('2000000', '2999999')]
const sourceOf = async function* (lines: string[]) {
  yield Buffer.from(lines.join('\n'))
}

async function start(lines: string[], more: Partial<NewUpload> = {}) {
  const content = Buffer.from(lines.join('\n'))
  const file = { kind: 'register', name: 'register.csv', sizeBytes: content.length, replaces: false, ...more }
  const { status, body } = await admin.ask('POST', '/numbering/uploads', file)
  expect(status).toBe(201)
  return { path: `/numbering/uploads/${body.uploadId}`, content }
}

const put = (path: string, piece: number, content: Buffer) =>
  admin.ask('PUT', `${path}/pieces/${piece}`, content, { headers: { 'content-type': 'application/octet-stream' } })

async function upload(lines: string[], more: Partial<NewUpload> = {}) {
  const { path, content } = await start(lines, more)
  for (let piece = 0; piece * PIECE_BYTES < content.length; piece++) {
    const part = content.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES)
    expect((await put(path, piece, part)).status).toBe(204)
  }
  const compared = await admin.ask('POST', `${path}/compare`)
  return { path, status: compared.status, body: compared.body as UploadAnswer & { error: { msg: string } } }
}

const apply = (path: string, version: number | null) => admin.ask('POST', `${path}/apply`, { version })
const find = async (number: string) =>
  (await admin.ask('GET', `/numbering/lookup?number=${number}`)).body as LookupAnswer & { kind: 'russian' }
const stateOf = async () => (await admin.ask('GET', '/numbering')).body as NumberingAnswer

describe('a file of the register', () => {
  test('shows exactly its changes, is applied by a second request, and takes effect on lookups at once', async () => {
    await importRegister(api.sql, sourceOf(register), { name: 'before.csv' })
    const next = [
      line('0000000', '0499999'),
      line('0500000', '0999999'), // the same range, cut in two
      line('1000000', '1999999', tele2),
      line('3000000', '3999999'),
    ]
    const { path, body } = await upload([heading, ...next])
    const { changes, entries, codes } = body.difference!
    expect([entries, codes]).toEqual([4, 1])
    expect(changes.added).toMatchObject({ ranges: 1, numbers: 1_000_000, samples: [{ first: 79163000000 }] })
    expect(changes.removed).toMatchObject({ ranges: 1, numbers: 1_000_000, samples: [{ first: 79162000000 }] })
    expect(changes.moved).toMatchObject({
      ranges: 1,
      samples: [{ first: 79161000000, last: 79161999999, after: { operator: 'ООО "Т2 Мобайл"', region: 'Москва' } }],
    })
    expect(changes.changed.ranges).toBe(0)
    expect((await find('79161234567')).range).toMatchObject({ brandId: 1 }) // nothing is applied yet

    expect((await apply(path, body.version)).status).toBe(204)
    expect((await find('79161234567')).range).toMatchObject({ brandId: 4, operator: { name: 'ООО "Т2 Мобайл"' } })
    expect((await find('79162000000')).range).toBeNull()
    const numbering = await loadNumbering(api.sql)
    expect(numbering.version).toBeGreaterThan(body.version!)
    expect(numbering.lookup('79161234567')!.brandId).toBe(4)
    expect((await stateOf()).sources).toMatchObject([{ kind: 'register', name: 'register.csv' }])
    expect((await admin.ask('GET', path)).status).toBe(404)
  })

  test('that was compared is not applied if another file was imported since; it can be compared again', async () => {
    const { path, body } = await upload(register)
    await importPorted(api.sql, sourceOf(['79160000001;TELE2']))
    const late = await apply(path, body.version)
    expect([late.status, late.body.error.msg]).toEqual([400, expect.stringContaining('changed in the meantime')])
    const again = (await admin.ask('POST', `${path}/compare`)).body as UploadAnswer
    expect((await apply(path, again.version)).status).toBe(204)
  })

  test('with a mistake is refused with its line', async () => {
    const wrong = await upload([...register, line('0900000', '0950000')])
    expect([wrong.status, wrong.body.error.msg]).toEqual([400, expect.stringContaining('line 4')])
    expect((await apply(wrong.path, 1)).status).toBe(400)
    expect((await admin.ask('DELETE', wrong.path)).status).toBe(204)
  })

  test('is uploaded in pieces of a fixed size; a missing piece, a long piece and a large file are refused', async () => {
    const long = `${'0'.repeat(90_000)}\n`.repeat(24) // a little more than one piece
    const { path, content } = await start([long])
    expect((await put(path, 0, content.subarray(0, 10))).status).toBe(400)
    expect((await put(path, 0, content)).status).toBe(413)
    expect((await put(path, 2, content.subarray(0, 10))).status).toBe(400)
    const early = await admin.ask('POST', `${path}/compare`)
    expect([early.status, early.body.error.msg]).toEqual([400, 'The file has not arrived yet'])
    for (const piece of [0, 1, 1]) {
      const part = content.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES)
      expect((await put(path, piece, part)).status).toBe(204)
    }
    expect((await admin.ask('POST', `${path}/compare`)).body.error.msg).toContain('line 1: must have 8 columns')
    const large = { kind: 'register', name: 'x', sizeBytes: 10 ** 9, replaces: false }
    expect((await admin.ask('POST', '/numbering/uploads', large)).status).toBe(413)
    await admin.ask('DELETE', path)
  })

  test('is kept for an hour, and at most four files are kept', async () => {
    for (let i = 0; i < 4; i++) await start(['x'])
    const fifth = await admin.ask('POST', '/numbering/uploads', {
      kind: 'ported',
      name: 'x',
      sizeBytes: 1,
      replaces: true,
    })
    expect([fifth.status, fifth.body.error.msg]).toEqual([400, expect.stringContaining('Four files wait')])
    const waiting = async () => ((await admin.ask('GET', '/numbering')).body as NumberingAnswer).uploads
    expect((await waiting()).map(({ kind, name }) => [kind, name])).toEqual(
      Array(4).fill(['register', expect.any(String)]),
    )
    await api.sql`update numbering_uploads set created_at = created_at - interval '61 minutes'`
    expect(await waiting()).toEqual([])
    const [last] = await api.sql`select max(upload_id) as id from numbering_uploads`
    expect((await admin.ask('GET', `/numbering/uploads/${last!.id}`)).status).toBe(404)
    await forgetOldUploads(api.sql, new Date())
    expect(await api.sql`select from numbering_uploads`).toHaveLength(0)
  })
})

test('the difference gives for every number the same answer as a lookup in both plans', () => {
  const ranges = fc
    .array(fc.record({ first: fc.nat(40), length: fc.nat(6), inn: fc.nat(2), region: fc.nat(1) }), { maxLength: 8 })
    .map(rows => {
      const made: PlanRange[] = []
      for (const { first, length, inn, region } of rows.sort((a, b) => a.first - b.first)) {
        const free = Math.max(first, (made.at(-1)?.last ?? -1) + 1)
        const operator = { inn: String(inn), name: `operator ${inn}` }
        made.push({ first: free, last: free + length, operator, region: String(region) })
      }
      return made
    })
  const holder = (plan: PlanRange[], number: number) => {
    const range = plan.find(({ first, last }) => first <= number && number <= last)
    return range && { inn: range.operator.inn, region: range.region }
  }
  const kindOf = (before: PlanRange[], after: PlanRange[], number: number) => {
    const [was, is] = [holder(before, number), holder(after, number)]
    if (!was || !is) return was ? 'removed' : is ? 'added' : undefined
    return was.inn !== is.inn ? 'moved' : was.region !== is.region ? 'changed' : undefined
  }
  fc.assert(
    fc.property(ranges, ranges, (before, after) => {
      const changes = compareRanges(before, after)
      for (let number = 0; number < 110; number++) {
        const told = changes.filter(({ first, last }) => first <= number && number <= last).map(({ kind }) => kind)
        expect(told[0]).toBe(kindOf(before, after, number))
        expect(told.length).toBeLessThanOrEqual(1)
      }
    }),
    { numRuns: 400 },
  )
})

test('a file of ported numbers shows new, moved and returned numbers', async () => {
  await importPorted(api.sql, sourceOf(['79160000001;TELE2', '79160000002;TELE2', '79160000003;TELE2']), {
    replace: true,
  })
  const lines = ['79160000001;TELE2', '79160000002;MEGAFON', '79160000004;MTS', '79160000004;BEELINE']
  const added = await upload(lines, { kind: 'ported' })
  expect(added.body.difference!.changes).toMatchObject({
    added: { numbers: 1 },
    moved: { numbers: 1 },
    removed: { numbers: 0 },
  })
  const { path, body } = await upload(lines, { kind: 'ported', replaces: true })
  expect(body.difference!.changes).toMatchObject({
    added: { samples: [{ first: 79160000004, before: null, after: { operator: 'BEELINE' } }] },
    moved: { samples: [{ first: 79160000002, before: { operator: 'TELE2' }, after: { operator: 'MEGAFON' } }] },
    removed: { numbers: 1, samples: [{ first: 79160000003 }] },
  })
  expect((await apply(path, body.version)).status).toBe(204)
  expect(await find('+7 916 000-00-02')).toMatchObject({ portedTo: 3, range: { brandId: 1 } })
  expect((await find('79160000003')).portedTo).toBeNull()
  expect((await stateOf()).ported).toBe(3)
})

test('a lookup gives the same answer as the memory of processes', async () => {
  const numbering = await loadNumbering(api.sql)
  const numbers = [
    '79160000002',
    '79160000009',
    '79162999999',
    '79169999999',
    '79261234567',
    '79031234567',
    '74951234567',
  ]
  for (const digits of numbers) {
    const found = await find(digits)
    const brandId = found.portedTo ?? found.range?.brandId
    expect([digits, brandId]).toEqual([digits, numbering.lookup(digits)?.brandId])
    expect([digits, found.range?.region]).toEqual([digits, numbering.lookup(digits)?.region])
  }
  expect(await find('77011234567')).toMatchObject({ kind: 'foreign', country: 'KZ' })
  expect((await admin.ask('GET', '/numbering/lookup?number=abc')).status).toBe(400)
})

test('the state has codes, operators and virtual operators; a virtual operator is saved only over the value that the person saw', async () => {
  const state = await stateOf()
  expect(state).toMatchObject({ importedCodes: 1, ported: 3 })
  expect(state.operators[0]!.numbers).toBeGreaterThan(10_000_000)
  const yota = { inn: '7701725181', name: 'ООО "Скартел"', brandId: 3 }
  const before = state.virtual.find(({ inn }) => inn === yota.inn)?.brandId ?? null
  const other = { ...yota, brandId: 2, before }
  expect((await admin.ask('PUT', '/numbering/virtual-operators', other)).status).toBe(204)
  expect((await admin.ask('PUT', '/numbering/virtual-operators', { ...other, before: 4 })).status).toBe(400)
  const after = await stateOf()
  expect(after.virtual).toContainEqual({ ...yota, brandId: 2 })
  expect(after.version).toBe(state.version + 1)
  expect(after.operators.find(({ inn }) => inn === yota.inn)!.brandId).toBe(2)
})

test('only staff see the plan, and only an admin changes it', async () => {
  const partner = await aPartner(api.sql)
  const file = { kind: 'register', name: 'x', sizeBytes: 1, replaces: false }
  const changing: Parameters<CabinetBrowser['ask']>[] = [
    ['POST', '/numbering/uploads', file],
    ['PUT', '/numbering/uploads/1/pieces/0', Buffer.from('x')],
    ['GET', '/numbering/uploads/1'],
    ['POST', '/numbering/uploads/1/compare'],
    ['POST', '/numbering/uploads/1/apply', { version: 1 }],
    ['DELETE', '/numbering/uploads/1'],
    ['PUT', '/numbering/virtual-operators', { inn: '7701725181', name: 'x', brandId: 1, before: null }],
  ]
  const reading: Parameters<CabinetBrowser['ask']>[] = [
    ['GET', '/numbering'],
    ['GET', '/numbering/lookup?number=79160000001'],
  ]
  const statuses = (browser: CabinetBrowser, calls: typeof reading) =>
    Promise.all(calls.map(async call => (await browser.ask(...call)).status))
  for (const place of [ofCompany(await aCompany(api.sql, partner)), ofPartner(partner.partnerId)]) {
    const browser = await signedIn(place, 'owner')
    expect(new Set(await statuses(browser, [...reading, ...changing]))).toEqual(new Set([403]))
  }
  const support = await signedIn(staff, 'support')
  expect(new Set(await statuses(support, reading))).toEqual(new Set([200]))
  expect(new Set(await statuses(support, changing))).toEqual(new Set([403]))
})

describe('the numbering in use is downloaded and imported again', () => {
  const saved = async (kind: string) => {
    const url = `/cabinet/api/numbering/export?kind=${kind}`
    const answer = await api.app.inject({ url, headers: { host: 'localhost:8080', cookie: admin.cookie! } })
    return { name: answer.headers['content-disposition'], lines: answer.body.trimEnd().split('\n') }
  }
  const ranges = ({ difference }: UploadAnswer) => changeKinds.map(kind => difference!.changes[kind].ranges)

  test('as a register: no difference is left, also not for codes that were imported in between', async () => {
    const nasty = '"В кавычках";Атлантида;-;' // with quotes, an unknown region and no INN
    await importRegister(api.sql, sourceOf([...register, line('3000000', '3000009', nasty)]), { replace: true })
    const { version } = await stateOf()
    const { name, lines } = await saved('register')
    expect(name).toBe(`attachment; filename="numbering-v${version}.csv"`)
    expect(ranges((await upload(lines)).body)).toEqual([0, 0, 0, 0])

    const other = `495;0000000;0999999;1;${mts}`
    await importRegister(api.sql, sourceOf([line('0000000', '0999999', tele2), other]))
    expect(ranges((await upload(lines)).body)).toEqual([2, 0, 1, 0])
    const back = await upload(lines, { replaces: true })
    expect(ranges(back.body)).toEqual([2, 1, 1, 0])
    expect((await apply(back.path, back.body.version)).status).toBe(204)
    expect((await find('74950000000')).range).toBeNull()
    expect(await saved('register')).toMatchObject({ lines })
    await api.sql`delete from numbering_uploads`
  })

  test('as a list of ported numbers', async () => {
    await importPorted(api.sql, sourceOf(['79160000001;TELE2', '79160000002;MTS']), { replace: true })
    const { version } = await stateOf()
    const { name, lines } = await saved('ported')
    expect(name).toBe(`attachment; filename="ported-v${version}.csv"`)
    expect(lines).toEqual(['number;brand', '79160000001;TELE2', '79160000002;MTS'])
    await importPorted(api.sql, sourceOf(['79160000001;BEELINE', '79160000003;MTS']))
    const back = await upload(lines, { kind: 'ported', replaces: true })
    expect((await apply(back.path, back.body.version)).status).toBe(204)
    expect((await saved('ported')).lines).toEqual(lines)
  })

  test('as an empty list of ported numbers, but not as a file without its heading or without “replace”', async () => {
    await api.sql`delete from ported_numbers`
    const { lines } = await saved('ported')
    expect(lines).toEqual(['number;brand'])
    await importPorted(api.sql, sourceOf(['79160000001;TELE2']))
    expect((await upload(['\n'], { kind: 'ported', replaces: true })).body.error.msg).toContain('no entries')
    expect((await upload(['phone;brand'], { kind: 'ported', replaces: true })).body.error.msg).toContain('no entries')
    expect((await upload(lines, { kind: 'ported' })).body.error.msg).toContain('no entries')
    await api.sql`delete from numbering_uploads`
    const back = await upload(lines, { kind: 'ported', replaces: true })
    expect(ranges(back.body)).toEqual([0, 1, 0, 0])
    expect((await apply(back.path, back.body.version)).status).toBe(204)
    expect((await stateOf()).ported).toBe(0)
  })

  test('as a list of ported numbers that is not an empty list when it breaks off after the first piece', async () => {
    await importPorted(api.sql, sourceOf(['79160000001;TELE2']))
    const { pieces } = await exportNumbering(api.sql, 'ported')
    expect((await pieces.next()).value).toMatch(/^number;brand\n79160000001;TELE2\n/)
    await pieces.return(undefined)
  })

  test('only as a whole: an import during the download ends the file', async () => {
    const { pieces } = await exportNumbering(api.sql, 'register')
    await pieces.next()
    await importPorted(api.sql, sourceOf(['79160000001;TELE2']))
    await expect(pieces.next()).rejects.toThrow('changed in the meantime')
  })
})
