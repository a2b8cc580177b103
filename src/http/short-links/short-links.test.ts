import { beforeEach, describe, expect, test } from 'vitest'
import { uuid7 } from '../../base/uuid7.ts'
import { clicksOf, saveLinks } from '../../domain/short-links/short-links.ts'
import { usePartnerApi } from '../../testing/api.ts'

const api = usePartnerApi()
const companyId = 7
const now = new Date('2026-05-01T12:00:00Z')
const code = 'Ab3dEf7hIj'

beforeEach(async () => {
  api.now = now
  await api.sql`truncate short_links, link_clicks`
  await aLinkTo('https://example.com/shop?item=1#top')
})

const aLinkTo = async (url: string, as = code) => {
  await api.sql`delete from short_links where code = ${as}`
  await api.sql.begin(sql => saveLinks(sql, companyId, [{ code: as, messageUuid: uuid7(now), url }], now))
}

let visitors = 0

/** Each time from an address of its own: clicks from one address count once in ten seconds. */
const get = (path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') => {
  visitors += 1
  const remoteAddress = `10.0.${Math.floor(visitors / 256)}.${visitors % 256}`
  return api.app.inject({ method, url: path, headers, remoteAddress })
}
const clicks = async () => (await clicksOf(api.sql, companyId, [code])).get(code)

test('a browser is sent where the link leads, the answer is not kept, and the click is', async () => {
  const { statusCode, headers, body } = await get(`/s/${code}`, { 'user-agent': 'Mozilla/5.0 (Linux; Android 14)' })
  expect({ statusCode, body }).toEqual({ statusCode: 302, body: '' })
  expect(headers).toMatchObject({
    location: 'https://example.com/shop?item=1#top',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  })
  expect(await api.sql`select code, clicked_at from link_clicks`).toEqual([{ code, clickedAt: now }])
})

test('fifty clicks at once from as many addresses are counted fifty times', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => get(`/s/${code}`)))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(50).fill(302))
  expect(await clicks()).toBe(50)
})

test.each([
  [
    'http://пример.рф/путь?цель=да',
    'http://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C?%D1%86%D0%B5%D0%BB%D1%8C=%D0%B4%D0%B0',
  ],
  ['https://example.com/🎉', 'https://example.com/%F0%9F%8E%89'],
  ['HTTP://EXAMPLE.com', 'http://example.com/'],
])('%s is written so that a header can carry it', async (url, location) => {
  await aLinkTo(url)
  expect((await get(`/s/${code}`)).headers.location).toBe(location)
})

describe('not a click', () => {
  test('is a HEAD request, which gets the same answer', async () => {
    const { statusCode, headers } = await get(`/s/${code}`, {}, 'HEAD')
    expect(statusCode).toBe(302)
    expect(headers.location).toBe('https://example.com/shop?item=1#top')
    expect(await clicks()).toBe(0)
  })

  test.each([
    'TelegramBot (like TwitterBot)',
    'WhatsApp/2.23.20.0 A',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)',
    'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5',
    'Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  ])('is the preview of %s, which sees where the link leads', async agent => {
    expect((await get(`/s/${code}`, { 'user-agent': agent })).statusCode).toBe(302)
    expect(await clicks()).toBe(0)
  })

  test('is a page fetched in advance', async () => {
    await get(`/s/${code}`, { 'sec-purpose': 'prefetch;prerender' })
    await get(`/s/${code}`, { purpose: 'prefetch' })
    expect(await clicks()).toBe(0)
  })
})

test.each([
  'Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [FBAN/FBIOS;FBAV/440]',
  '',
])('a person with %j is counted', async agent => {
  await get(`/s/${code}`, { 'user-agent': agent })
  expect(await clicks()).toBe(1)
})

test.each([
  ['an unknown code', '/s/Zb3dEf7hIj'],
  ['the same in other letters', `/s/${code.toLowerCase()}`],
  ['a code that cannot be', '/s/..%2f..%2fetc'],
  ['one with a character that the database has no room for', '/s/abcdefg%00'],
  ['a code that is too long', `/s/${'a'.repeat(400)}`],
  ['nothing', '/s/'],
])('%s is not found, in our form', async (_, path) => {
  const answer = await get(path)
  expect(answer.statusCode).toBe(404)
  expect(answer.json()).toEqual({ error: { code: 4040, msg: expect.stringMatching(/not found/i) } })
  expect(await api.sql`select from link_clicks`).toHaveLength(0)
  expect(api.errors).toEqual([])
})
