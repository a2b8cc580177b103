import type { Sql } from '../../db/sql.ts'
import { isCode } from './short-link.ts'
import type { Block, ClicksOfDispatch, CompanyLink, LinkDetails, LinkPlace, LinkQuestion } from './store.ts'
import * as store from './store.ts'

export { type ClickedDispatch, type ClicksOfDispatch, clicksByHour, type LinkPlace } from './store.ts'

export type ListedLink = CompanyLink & LinkDetails

/** A search among the short links of a company. */
export type LinkSearch = {
  /** A code, a short link, or a part of the target's host. */
  typed: string
  dispatchId?: number | undefined
  /** The last link of the previous page. */
  before?: LinkPlace | undefined
  limit: number
}

export type LinkPage = {
  items: ListedLink[]
  /** The start of the next page. Undefined at the end. */
  older: LinkPlace | undefined
  /** The search took too long. `older`: the place where it can continue. */
  isCut: boolean
}

const SEARCH_MS = 3000
/** The most links that one statement reads. */
const BLOCK = 2000

/**
 * The newest first. A code is found by its key. A host has no index: links are read block by block until the page is full
 * or the time is over, and the next page goes on from there.
 */
export async function searchLinks(sql: Sql, companyId: number, search: LinkSearch): Promise<LinkPage> {
  const typed = search.typed.trim()
  const ofCode = isCode(codeIn(typed)) ? await listedLink(sql, companyId, codeIn(typed)) : []
  if (ofCode.length > 0) return { items: ofCode, older: undefined, isCut: false }
  const question = await questionOf(sql, companyId, search)
  return question ? readBack(sql, question, search) : { items: [], older: undefined, isCut: false }
}

/** A short link may be pasted as a whole. */
const codeIn = (typed: string) => /\/s\/([0-9A-Za-z]+)$/.exec(typed)?.[1] ?? typed

/** Undefined when the company has no such dispatch, or it has no messages. */
async function questionOf(sql: Sql, companyId: number, search: LinkSearch): Promise<LinkQuestion | undefined> {
  const host = hostIn(search.typed) || undefined
  if (search.dispatchId === undefined) return { companyId, host }
  const [range] = await store.selectDispatchRange(sql, companyId, search.dispatchId)
  if (!range?.least || !range.greatest) return undefined
  return { companyId, host, dispatch: { dispatchId: search.dispatchId, least: range.least, greatest: range.greatest } }
}

/** `https://shop.example/sale` is searched by its host. */
const hostIn = (typed: string) =>
  typed
    .trim()
    .replace(/^[a-z]+:\/\//i, '')
    .split('/')[0]!

async function readBack(sql: Sql, question: LinkQuestion, { before, limit }: LinkSearch): Promise<LinkPage> {
  const endsAt = performance.now() + SEARCH_MS
  const found: ListedLink[] = []
  let after = before
  for (;;) {
    const [floor] = await store.selectFloor(sql, question, after, BLOCK)
    const links = await linksIn(sql, question, { after, floor }, limit + 1 - found.length)
    found.push(...(await listed(sql, question.companyId, links)))
    const items = found.slice(0, limit)
    if (found.length > limit) return { items, older: placeOf(items.at(-1)!), isCut: false }
    if (!floor) return { items, older: undefined, isCut: false }
    if (performance.now() > endsAt) return { items, older: floor, isCut: true }
    after = floor
  }
}

/** The links of a dispatch are known by their messages. */
async function linksIn(sql: Sql, question: LinkQuestion, block: Block, limit: number) {
  const { companyId, dispatch } = question
  const links = await store.selectLinks(sql, question, block, dispatch ? BLOCK : limit)
  if (!dispatch || links.length === 0) return links
  const uuids = links.map(({ messageUuid }) => messageUuid)
  const messages = await store.selectMessagesOfDispatch(sql, companyId, dispatch.dispatchId, uuids)
  const own = new Set(messages.map(({ messageUuid }) => messageUuid))
  return links.filter(({ messageUuid }) => own.has(messageUuid)).slice(0, limit)
}

const listedLink = async (sql: Sql, companyId: number, code: string): Promise<ListedLink[]> =>
  listed(sql, companyId, await store.selectCompanyLink(sql, companyId, code))

/** Adds clicks, message and dispatch to the links. */
async function listed(sql: Sql, companyId: number, links: CompanyLink[]): Promise<ListedLink[]> {
  if (links.length === 0) return []
  const details = new Map((await store.selectDetails(sql, companyId, links)).map(detail => [detail.code, detail]))
  return links.map(link => ({ ...link, ...details.get(link.code)! }))
}

const placeOf = ({ messageUuid, code }: LinkPlace): LinkPlace => ({ messageUuid, code })

/** More clicks of one link are not counted or shown. */
export const MOST_CLICKS = 1000

/** A link of the company with the moments of its newest clicks; undefined when the company has no such link. */
export async function clickedLink(sql: Sql, companyId: number, code: string) {
  const [link] = isCode(code) ? await listedLink(sql, companyId, code) : []
  if (!link) return undefined
  const clicks = await store.selectNewestClicks(sql, companyId, code, MOST_CLICKS)
  return { link, clickedAt: clicks.map(({ clickedAt }) => clickedAt) }
}

/** The clicks on the links of a dispatch, and the number of recipients that made them. */
export async function clicksOfDispatch(sql: Sql, companyId: number, dispatchId: number): Promise<ClicksOfDispatch> {
  const [sums] = await store.selectClicksOfDispatch(sql, companyId, dispatchId)
  return sums!
}

/** The newest dispatches with clicks, older than a given dispatch. `older`: the start of the next page. */
export async function clickedDispatches(sql: Sql, companyId: number, before: number | undefined, limit: number) {
  const found = await store.selectClickedDispatches(sql, companyId, before, limit + 1)
  const items = found.slice(0, limit)
  return { items, older: found.length > limit ? items.at(-1)!.dispatchId : null }
}
