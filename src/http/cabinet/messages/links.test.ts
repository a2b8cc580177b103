import { beforeAll, describe, expect, test } from 'vitest'
import { uuid7Batch } from '../../../base/uuid7.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import { searchLinks } from '../../../domain/short-links/company-links.ts'
import { followLink, forgetOldLinks, saveLinks } from '../../../domain/short-links/short-links.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import { aDispatch, aWorld, someRecipients, type World } from '../../../testing/world.ts'
import type { ClickedDispatchesAnswer, ClicksAnswer, LinkAnswer, LinksAnswer } from './links.ts'

const { api } = useApp('/docs/partner.json')
let world: World
let theirs: World

beforeAll(async () => {
  world = await aWorld(api.sql)
  theirs = await aWorld(api.sql)
})

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn((await aPerson(api.sql, ...person)).login)
  const list = async (query = '') => (await browser.ask('GET', `/links${query}`)).body as LinksAnswer
  return { browser, list }
}

/** Creates links to these targets. The last one is the newest. */
async function linked(companyId: number, urls: string[], uuids = uuid7Batch(new Date(), urls.length)) {
  const links = urls.map((url, i) => ({
    code: `code${companyId}x${uuids[i]!.slice(-4)}x${i}`,
    messageUuid: uuids[i]!,
    url,
  }))
  return api.sql.begin(tx => saveLinks(tx, companyId, links, new Date()))
}

const follow = (code: string, now = new Date()) => followLink(api.sql, code, { base: 'http://localhost/s', now })
const urlsOf = ({ items }: LinksAnswer) => items.map(({ url }) => url)

test('the newest is first, with message, dispatch and clicks; the search takes a code, a short link, a host or a dispatch', async () => {
  const { companyId } = world
  const dispatchId = await aDispatch(api.sql, await loadNumbering(api.sql), world, someRecipients(2))
  const sent =
    await api.sql`select message_uuid as uuid, destination from messages where dispatch_id = ${dispatchId} order by message_uuid`
  const [first] = await linked(companyId, ['https://shop.example/a'], [sent[0]!.uuid])
  const [second] = await linked(companyId, ['https://other.example/shop.example'])
  await follow(first!.code)
  await follow(first!.code)
  const { browser, list } = await signedIn(ofCompany(companyId), 'viewer')
  const { items, older } = await list()
  expect([items.map(({ code }) => code), older]).toEqual([[second!.code, first!.code], null])
  expect(items[1]).toMatchObject({
    clicks: 2,
    isMore: false,
    dispatchId,
    dispatchName: 'Test',
    url: 'https://shop.example/a',
  })
  expect(items[1]!.destination).toBe(sent[0]!.destination)
  expect(items[0]).toMatchObject({ clicks: 0, dispatchId: null, destination: null })
  for (const q of [
    `q=${first!.code}`,
    `q=${encodeURIComponent(items[1]!.shortUrl)}`,
    'q=SHOP.ex',
    `dispatch=${dispatchId}`,
  ])
    expect([q, urlsOf(await list(`?${q}`))]).toEqual([q, ['https://shop.example/a']])
  expect(urlsOf(await list('?q=nobody.example'))).toEqual([])
  expect(urlsOf(await list('?dispatch=99999999'))).toEqual([])

  const one = (await browser.ask('GET', `/links/${first!.code}`)).body as LinkAnswer
  expect([one.clicks, one.days.length, one.days.at(-1)!.clicks]).toEqual([2, 30, 2])
})

test('clicks of the company by day include all its links, also links that were deleted since', async () => {
  const { companyId } = await aWorld(api.sql)
  const [link] = await linked(companyId, ['https://shop.example'])
  const day = (back: number) => new Date(Date.now() - back * 24 * 3600_000)
  for (const back of [0, 0, 3, 29, 40]) await follow(link!.code, day(back))
  const { browser } = await signedIn(ofCompany(companyId), 'owner')
  const clicks = async () => {
    const { days } = (await browser.ask('GET', '/links/clicks')).body as ClicksAnswer
    return days.flatMap((one, place) => (one.clicks > 0 ? [[29 - place, one.clicks]] : []))
  }
  const expected = [
    [29, 1],
    [3, 1],
    [0, 2],
  ]
  expect(await clicks()).toEqual(expected)
  await api.sql`update short_links set created_at = ${day(100)} where company_id = ${companyId}`
  await forgetOldLinks(api.sql, day(35))
  expect(await clicks()).toEqual(expected)
  expect(await api.sql`select from link_hours where company_id = ${companyId} and hour < ${day(35)}`).toHaveLength(0)
})

test('clicks are summed by dispatch; a recipient who clicks several times is counted once', async () => {
  const { companyId } = world
  const numbering = await loadNumbering(api.sql)
  const [older, newer] = [
    await aDispatch(api.sql, numbering, world, someRecipients(3)),
    await aDispatch(api.sql, numbering, world, someRecipients(1)),
  ]
  const uuidsOf = async (id: number) =>
    (await api.sql`select message_uuid as uuid from messages where dispatch_id = ${id} order by dispatch_position`).map(
      ({ uuid }) => uuid,
    )
  const [first, second] = await uuidsOf(older!)
  const [a, b, c] = await linked(companyId, new Array(3).fill('https://shop.example'), [first, first, second])
  const [d] = await linked(companyId, ['https://shop.example'], await uuidsOf(newer!))
  const [single] = await linked(companyId, ['https://shop.example'])
  await Promise.all(new Array(5).fill(a!.code).map(code => follow(code)))
  for (const link of [b, c, d, single]) await follow(link!.code)
  const { browser } = await signedIn(ofCompany(companyId), 'viewer')
  const { items } = (await browser.ask('GET', '/links/dispatches')).body as ClickedDispatchesAnswer
  expect(items.slice(0, 2)).toMatchObject([
    { dispatchId: newer, name: 'Test', clicks: 1, people: 1 },
    { dispatchId: older, clicks: 7, people: 2, delivered: 0 },
  ])
  const below = await browser.ask('GET', `/links/dispatches?before=${newer}`)
  expect(below.body.items[0].dispatchId).toBe(older)
  expect((await browser.ask('GET', `/dispatches/${older}`)).body.clicks).toEqual({ clicks: 7, people: 2 })
})

test('pages through thousands of links that the search does not match are read by an index', async () => {
  const { companyId } = await aWorld(api.sql)
  const urls = Array.from({ length: 9001 }, (_, i) =>
    i % 3000 === 0 ? `https://rare.example/${i}` : 'https://often.example',
  )
  await linked(companyId, urls)
  const { list } = await signedIn(ofCompany(companyId), 'owner')
  const found: string[] = []
  let before = ''
  do {
    const page = await list(`?q=rare&perPage=3${before}`)
    found.push(...urlsOf(page))
    before = page.older ? `&before=${page.older}` : ''
  } while (before)
  expect(found).toEqual([9000, 6000, 3000, 0].map(i => `https://rare.example/${i}`))
  await api.sql`analyze short_links`
  for (const mode of planModes)
    for (const [typed, about] of [
      ['', /created_at from short_links/],
      ['rare', /offset/],
      ['rare', /ilike/],
    ] as const) {
      const reads = await readsOf(api, mode, sql => searchLinks(sql, companyId, { typed, limit: 50 }), about)
      const ofLinks = reads.filter(({ table }) => table === 'short_links')
      expect(ofLinks).toMatchObject([{ index: 'short_links_by_message' }])
      expect(ofLinks[0]!.rows).toBeLessThan(2100)
      expect(reads.every(({ index }) => index !== undefined)).toBe(true)
    }
})

describe('rights', () => {
  test("another company's links are not found", async () => {
    const [link] = await linked(theirs.companyId, ['https://theirs.example'])
    const people = [
      await signedIn(ofCompany(world.companyId), 'owner'),
      await signedIn(ofPartner(world.partner.partnerId), 'owner'),
    ]
    for (const { browser, list } of people) {
      for (const path of ['/links', '/links/clicks', '/links/dispatches', `/links/${link!.code}`])
        expect((await browser.ask('GET', `${path}?companyId=${theirs.companyId}`)).status).toBe(404)
      expect((await browser.ask('GET', `/links/${link!.code}?companyId=${world.companyId}`)).status).toBe(404)
      expect(urlsOf(await list(`?q=${link!.code}&companyId=${world.companyId}`))).toEqual([])
    }
    const { browser } = await signedIn(staff, 'support')
    expect((await browser.ask('GET', `/links/${link!.code}?companyId=${theirs.companyId}`)).status).toBe(200)
    expect((await new CabinetBrowser(() => api.app).ask('GET', '/links')).status).toBe(401)
  })
})
