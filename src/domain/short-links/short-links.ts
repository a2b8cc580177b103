import { piecesOf } from '../../base/pieces.ts'
import { everyCompany } from '../../db/by-company.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { randomCode, type ShortLink, shortenLinks, shortUrlOf } from './short-link.ts'
import * as store from './store.ts'

const BATCH = 5000
/** Rows of an hour or a dispatch among which clicks are counted: a click waits for another of the same row. */
const SHARDS = 8
const MOST_TRIES = 5
/** The limit of one housekeeping run. */
const MOST_BATCHES = 100

/**
 * Shortens the links in the texts of new messages and keeps them, in the transaction that keeps the messages. Gives the
 * texts back in their order. Codes are all of one length: however they fall, a text keeps its parts.
 */
export async function shortenTexts(
  sql: Transaction,
  companyId: number,
  messages: { messageUuid: string; text: string }[],
  { base, now, makeCode = randomCode }: { base: string; now: Date; makeCode?: () => string },
): Promise<string[]> {
  const shortened = messages.map(({ text }) => shortenLinks(text, makeCode, base))
  const links = shortened.flatMap(({ links }, i) =>
    links.map(link => ({ ...link, messageUuid: messages[i]!.messageUuid })),
  )
  const saved = await saveLinks(sql, companyId, links, now, makeCode)

  const saves = saved.values()
  return shortened.map(({ text, links }, i) => {
    const kept = links.map(() => saves.next().value!.code)
    const isAsDrawn = kept.every((code, place) => code === links[place]!.code)
    return isAsDrawn ? text : shortenLinks(messages[i]!.text, () => kept.shift()!, base).text
  })
}

/**
 * Keeps links, any number at once, and gives them back in their order, as kept: one whose code was taken has another
 * code now, of which the message's text does not know yet. (`shortenTexts` takes care of that.)
 */
export async function saveLinks(
  sql: Transaction,
  companyId: number,
  links: ShortLink[],
  now: Date,
  makeCode = randomCode,
): Promise<ShortLink[]> {
  const saved: ShortLink[] = []
  for (const some of piecesOf(links, BATCH)) saved.push(...(await saveBatch(sql, companyId, some, now, makeCode)))
  return saved
}

async function saveBatch(sql: Sql, companyId: number, links: ShortLink[], now: Date, makeCode: () => string) {
  const saved = [...links]
  let left = links.map((_, place) => place)
  for (let tries = 0; left.length > 0; tries++) {
    if (tries === MOST_TRIES) throw new Error(`no free code for a short link after ${MOST_TRIES} tries`)
    if (tries > 0) for (const place of left) saved[place] = { ...saved[place]!, code: makeCode() }

    const trying = left
    const rows = await store.insertLinks(
      sql,
      companyId,
      trying.map(place => saved[place]!),
      now,
    )
    const written = new Set(rows.map(({ place }) => trying[place]!))
    left = trying.filter(place => !written.has(place))
  }
  return saved
}

/** A click on a link, with the fields of its callback, except the fields of the message. */
export type Click = store.FoundLink & { code: string; shortUrl: string; clickedAt: Date }

/**
 * Records a click and returns the target of the link. The click is written in one transaction with the work of `enqueue`,
 * for instance a callback. Undefined for an unknown link.
 */
export function followLink(
  pool: Pool,
  code: string,
  {
    base,
    now,
    enqueue = async () => {},
  }: { base: string; now: Date; enqueue?: (sql: Transaction, click: Click) => Promise<void> },
): Promise<Click | undefined> {
  return pool.begin(async sql => {
    const [link] = await store.lockLink(sql, code)
    if (!link) return undefined
    const click = { ...link, code, shortUrl: shortUrlOf(base, code), clickedAt: now }
    const shard = Math.floor(Math.random() * SHARDS)
    await store.countClickOfDispatch(sql, link, shard)
    await store.insertClick(sql, link.companyId, code, now)
    await store.countClick(sql, link.companyId, now, shard)
    await enqueue(sql, click)
    return click
  })
}

/** The target of a link. Counts no click. */
export async function findLink(sql: Sql, code: string): Promise<store.FoundLink | undefined> {
  const [link] = await store.selectLink(sql, code)
  return link
}

/** The number of clicks on each of these links of a company. */
export async function clicksOf(sql: Sql, companyId: number, codes: string[]): Promise<Map<string, number>> {
  const rows = await store.countClicks(sql, companyId, codes)
  const counted = new Map(rows.map(({ code, clicks }) => [code, clicks]))
  return new Map(codes.map(code => [code, counted.get(code) ?? 0]))
}

const CODE_IN_TEXT = /\/([0-9A-Za-z]{7,32})(?![0-9A-Za-z])/g
const MOST_CODES = 50
const MOST_SHOWN_CLICKS = 20

/** The short links in the text of a message, with their number of clicks and first click. */
export async function linksOfText(sql: Sql, companyId: number, messageUuid: string, text: string) {
  const codes = new Set([...text.matchAll(CODE_IN_TEXT)].map(([, code]) => code!).slice(0, MOST_CODES))
  const links = codes.size > 0 ? await store.selectLinksOf(sql, companyId, messageUuid, [...codes]) : []
  if (links.length === 0) return []
  const ofLinks = links.map(({ code }) => code)
  const clicked = await store.selectClicks(sql, companyId, ofLinks, MOST_SHOWN_CLICKS)
  const clicksOf = new Map(clicked.map(({ code, ...clicks }) => [code, clicks]))
  return links.map(link => ({ ...link, ...(clicksOf.get(link.code) ?? { clicks: 0, clickedAt: [] }) }))
}

/** Deletes links that are older than a moment, with their clicks, in batches. The next housekeeping continues. */
export async function forgetOldLinks(pool: Pool, before: Date): Promise<void> {
  let batches = 0
  while ((await forgetBatch(pool, before)) === BATCH && ++batches < MOST_BATCHES);
  await everyCompany(pool, companyId => store.deleteOldHours(pool, companyId, before))
}

function forgetBatch(pool: Pool, before: Date): Promise<number> {
  return pool.begin(async sql => {
    const links = await store.deleteOldLinks(sql, before, BATCH)
    for (const [companyId, own] of Map.groupBy(links, link => link.companyId)) {
      const codes = own.map(({ code }) => code)
      await store.deleteClicks(sql, companyId, codes)
    }
    return links.length
  })
}

/** Deletes the links of messages with their clicks. The clicks of dispatches and hours stay counted. */
export async function deleteLinksOf(sql: Sql, companyId: number, messageUuids: string[]): Promise<void> {
  const links = await store.selectCodesOf(sql, companyId, messageUuids)
  await store.deleteClicks(
    sql,
    companyId,
    links.map(({ code }) => code),
  )
  await store.deleteLinksOf(sql, companyId, messageUuids) // last, so that a repeated call finds the clicks
}
