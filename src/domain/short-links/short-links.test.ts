import { beforeEach, describe, expect, test } from 'vitest'
import { uuid7 } from '../../base/uuid7.ts'
import type { Transaction } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { randomCode, type ShortLink } from './short-link.ts'
import { type Click, clicksOf, findLink, followLink, forgetOldLinks, saveLinks, shortenTexts } from './short-links.ts'

const db = useDatabase()
const now = new Date('2026-05-01T12:00:00Z')
const base = 'https://s.example/s'
const companyId = 7

beforeEach(() => db.sql`truncate short_links, link_clicks`)

const aLink = (given: Partial<ShortLink> = {}): ShortLink => ({
  code: randomCode(),
  messageUuid: uuid7(now),
  url: 'https://example.com/a',
  ...given,
})

const save = (links: ShortLink[], makeCode?: () => string, at = now): Promise<ShortLink[]> =>
  db.sql.begin(sql => saveLinks(sql, companyId, links, at, makeCode))

/** Gives these codes one after the other. */
const codesIn =
  (...codes: string[]) =>
  () =>
    codes.shift() ?? expect.fail('one code too many was drawn')

describe('saving', () => {
  test('keeps any number of links at once', async () => {
    const links = Array.from({ length: 12_000 }, (_, i) => aLink({ url: `https://example.com/${i}` }))
    expect(await save(links)).toEqual(links)
    const [row] = await db.sql`select count(*) as links from short_links where company_id = ${companyId}`
    expect(row!.links).toBe(12_000)
    expect(await findLink(db.sql, links[11_999]!.code)).toEqual({
      companyId,
      messageUuid: links[11_999]!.messageUuid,
      url: 'https://example.com/11999',
    })
    expect(await save([])).toEqual([])
  })

  test('a code that is taken is drawn again, and the link that had it keeps it', async () => {
    const [first] = await save([aLink({ code: 'AAAAAAA1', url: 'https://example.com/first' })])
    const others = [aLink({ code: 'AAAAAAA1' }), aLink({ code: 'AAAAAAA2' }), aLink({ code: 'AAAAAAA2' })]
    const saved = await save(others, codesIn('AAAAAAA2', 'AAAAAAA3', 'AAAAAAA4'))
    expect(saved.map(({ code }) => code)).toEqual(['AAAAAAA4', 'AAAAAAA2', 'AAAAAAA3'])
    expect(saved.map(({ messageUuid }) => messageUuid)).toEqual(others.map(({ messageUuid }) => messageUuid))
    for (const { code, messageUuid } of [first!, ...saved]) {
      expect(await findLink(db.sql, code)).toMatchObject({ messageUuid })
    }
  })

  test('where no code is free it gives up and keeps nothing', async () => {
    await save([aLink({ code: 'AAAAAAA1' })])
    await expect(save([aLink(), aLink()], () => 'AAAAAAA1')).resolves.toHaveLength(2)
    await expect(save([aLink(), aLink({ code: 'AAAAAAA1' })], () => 'AAAAAAA1')).rejects.toThrow('no free code')
    expect(await db.sql`select from short_links`).toHaveLength(3)
  })

  test('many at once that draw from few codes get each code once', async () => {
    // 200 codes for 60 links: nearly every transaction meets codes of others, committed or not.
    const drawn = () => `AAAAAA${100 + Math.floor(Math.random() * 200)}`
    const savedTogether = async () => {
      const links = [aLink({ code: drawn() }), aLink({ code: drawn() }), aLink({ code: drawn() })]
      for (;;) {
        // Second draws of a transaction come in any order, so with so few codes two may wait for each other.
        const saved = await save(links, drawn).catch(error => {
          if (!/no free code|deadlock detected/.test(String(error))) throw error
        })
        if (saved) return saved
      }
    }
    const saved = (await Promise.all(Array.from({ length: 20 }, savedTogether))).flat()
    expect(new Set(saved.map(({ code }) => code)).size).toBe(60)
    const rows = await db.sql<{ code: string; messageUuid: string }[]>`
      select code, message_uuid from short_links`
    const pairs = (links: { code: string; messageUuid: string }[]) =>
      links.map(({ code, messageUuid }) => `${code} ${messageUuid}`).sort()
    expect(pairs(rows)).toEqual(pairs(saved))
  })
})

describe('shortening texts', () => {
  const shorten = (messages: { messageUuid: string; text: string }[], makeCode?: () => string): Promise<string[]> =>
    db.sql.begin(sql => shortenTexts(sql, companyId, messages, { base, now, ...(makeCode ? { makeCode } : {}) }))

  test('gives each message codes of its own, which lead where its links led', async () => {
    const text = 'Да: https://example.com/yes, нет: https://example.com/no, да: https://example.com/yes!'
    const messages = [
      { messageUuid: uuid7(now), text },
      { messageUuid: uuid7(now), text: 'Без ссылок' },
      { messageUuid: uuid7(now), text },
    ]
    const texts = await shorten(messages)
    expect(texts[1]).toBe('Без ссылок')
    const codes = [texts[0]!, texts[2]!].map(short => {
      const found =
        /^Да: https:\/\/s\.example\/s\/(\w{10}), нет: https:\/\/s\.example\/s\/(\w{10}), да: https:\/\/s\.example\/s\/\1!$/.exec(
          short,
        )
      return found!.slice(1, 3)
    })
    expect(new Set(codes.flat()).size).toBe(4)
    for (const [i, messageUuid] of [messages[0]!.messageUuid, messages[2]!.messageUuid].entries()) {
      const [yes, no] = codes[i]!
      expect(await findLink(db.sql, yes!)).toEqual({ companyId, messageUuid, url: 'https://example.com/yes' })
      expect(await findLink(db.sql, no!)).toEqual({ companyId, messageUuid, url: 'https://example.com/no' })
    }
  })

  test('a text carries the codes that were kept, also where they had to be drawn again', async () => {
    await save([aLink({ code: 'AAAAAAA1' })])
    const messages = ['a', 'b'].map(name => ({
      messageUuid: uuid7(now),
      text: `https://example.com/${name}/1 https://example.com/${name}/2 https://example.com/${name}/1`,
    }))
    // The first message draws a code that is taken and then its own second code. The other message draws the same code twice.
    const codes = codesIn('AAAAAAA1', 'AAAAAAA2', 'AAAAAAA3', 'AAAAAAA3', 'AAAAAAA2', 'AAAAAAA4', 'AAAAAAA5')
    const texts = await shorten(messages, codes)
    expect(texts).toEqual([
      `${base}/AAAAAAA5 ${base}/AAAAAAA2 ${base}/AAAAAAA5`,
      `${base}/AAAAAAA3 ${base}/AAAAAAA4 ${base}/AAAAAAA3`,
    ])
    for (const [code, url] of [
      ['AAAAAAA5', 'https://example.com/a/1'],
      ['AAAAAAA2', 'https://example.com/a/2'],
      ['AAAAAAA3', 'https://example.com/b/1'],
      ['AAAAAAA4', 'https://example.com/b/2'],
    ] as const) {
      expect(await findLink(db.sql, code)).toMatchObject({ url })
    }
  })
})

describe('following', () => {
  const follow = (code: string, enqueue?: Parameters<typeof followLink>[2]['enqueue']) =>
    followLink(db.sql, code, { base, now, ...(enqueue ? { enqueue } : {}) })

  test('tells where the link leads and whose it is, and counts', async () => {
    const [link] = await save([aLink()])
    expect(await follow(link!.code)).toEqual({
      companyId,
      messageUuid: link!.messageUuid,
      url: link!.url,
      code: link!.code,
      shortUrl: `${base}/${link!.code}`,
      clickedAt: now,
    })
    expect(await db.sql`select company_id, code, clicked_at from link_clicks`).toEqual([
      { companyId, code: link!.code, clickedAt: now },
    ])
    expect(await clicksOf(db.sql, companyId, [link!.code, 'nothing'])).toEqual(
      new Map([
        [link!.code, 1],
        ['nothing', 0],
      ]),
    )
    expect(await clicksOf(db.sql, companyId + 1, [link!.code])).toEqual(new Map([[link!.code, 0]]))
  })

  test('an unknown code leads nowhere and counts nothing', async () => {
    expect(await follow('AAAAAAA1', () => expect.fail('there is nothing to tell'))).toBeUndefined()
    expect(await db.sql`select from link_clicks`).toHaveLength(0)
  })

  test('a click and its callback are stored together or not at all', async () => {
    const [link] = await save([aLink()])
    const note = (sql: Transaction, { code, clickedAt }: Click) =>
      sql`insert into link_clicks (company_id, code, clicked_at) values (${companyId + 1}, ${code}, ${clickedAt})`
    const written = () => db.sql`select company_id from link_clicks order by company_id`
    const failing = follow(link!.code, async (sql, click) => {
      await note(sql, click)
      throw new Error('no room')
    })
    await expect(failing).rejects.toThrow('no room')
    expect(await written()).toEqual([])
    await follow(link!.code, async (sql, click) => void (await note(sql, click)))
    expect(await written()).toEqual([{ companyId }, { companyId: companyId + 1 }])
  })

  test('fifty at once are counted fifty times', async () => {
    const [link] = await save([aLink()])
    await Promise.all(Array.from({ length: 50 }, () => follow(link!.code)))
    expect(await clicksOf(db.sql, companyId, [link!.code])).toEqual(new Map([[link!.code, 50]]))
  })
})

test('old links are forgotten with their clicks, however many, the others stay with theirs', async () => {
  const many = Array.from({ length: 5001 }, () => aLink())
  const [old] = await save(many, undefined, new Date('2026-01-01T00:00:00Z'))
  const [young] = await save([aLink()])
  for (const { code } of [old!, old!, young!]) await followLink(db.sql, code, { base, now })
  await forgetOldLinks(db.sql, now)
  expect(await db.sql`select code from short_links`).toEqual([{ code: young!.code }])
  expect(await db.sql`select code from link_clicks`).toEqual([{ code: young!.code }])
})
