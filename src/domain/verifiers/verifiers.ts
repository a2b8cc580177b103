import { createHash, randomInt } from 'node:crypto'
import { createBatcher } from '../../base/concurrency/batcher.ts'
import { invalid, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { refuseBadPage, refuseBadSettings } from './rules.ts'
import * as store from './store.ts'
import {
  defaultPage,
  defaultSettings,
  type PageSettings,
  type Verifier,
  type VerifierKind,
  type VerifierSettings,
  type Widget,
} from './verifier.ts'

export { deleteVerifier, listAllVerifiers, listVerifiers } from './store.ts'

/** The fields that a creation or a change sets. Absent fields keep their values. */
export type VerifierOptions = {
  name?: string
  settings?: Partial<VerifierSettings>
  /** Of a widget alone. */
  page?: Partial<PageSettings>
  /** Encrypted by `sealCaptchaSecret`; null removes it. */
  captchaSecret?: Buffer | null
}

/** Letters and digits that are not taken for each other. */
const ID_SIGNS = 'abcdefghjkmnpqrstuvwxyz23456789'
const ID_LENGTHS: Record<VerifierKind, number> = { API: 6, WIDGET: 12 }
const MOST_ID_DRAWS = 20
const MOST_NAME = 100

/** Makes a verifier or a widget and returns its id. */
export async function createVerifier(
  sql: Transaction,
  companyId: number,
  kind: VerifierKind,
  options: VerifierOptions = {},
): Promise<string> {
  await requireAnyCompany(sql, companyId)
  const settings = { ...defaultSettings, ...options.settings }
  const page = kind === 'WIDGET' ? { ...defaultPage, ...options.page } : null
  const name = options.name ?? (kind === 'WIDGET' ? 'Widget' : 'Verifier')
  const captchaSecret = options.captchaSecret ?? null
  refuseBad({ name, settings, page, captchaSecret })
  const verifierId = await drawId(sql, companyId, kind)
  await store.insertVerifier(sql, companyId, { verifierId, kind, name, settings, page, captchaSecret })
  return verifierId
}

/** Makes a verifier or a widget unless the company has one of this name. Of two calls at once, one makes it. */
export async function ensureVerifier(
  pool: Pool,
  companyId: number,
  kind: VerifierKind,
  options: VerifierOptions & { name: string },
): Promise<void> {
  await pool.begin(async sql => {
    await store.lockNames(sql, companyId)
    const known = await store.listVerifiers(sql, companyId, kind)
    if (!known.some(({ name }) => name === options.name)) await createVerifier(sql, companyId, kind, options)
  })
}

function refuseBad({ name, settings, page, captchaSecret }: store.VerifierChange) {
  if (name.trim() === '' || name.length > MOST_NAME) throw invalid(`name must have 1 to ${MOST_NAME} characters`)
  refuseBadSettings(settings)
  if (page) refuseBadPage(page, settings, captchaSecret !== null)
}

/** An id that was never given before, also not to a verifier that was deleted. */
async function drawId(sql: Transaction, companyId: number, kind: VerifierKind): Promise<string> {
  for (let draw = 0; draw < MOST_ID_DRAWS; draw++) {
    const verifierId = Array.from({ length: ID_LENGTHS[kind] }, () => ID_SIGNS[randomInt(ID_SIGNS.length)]).join('')
    if ((await store.insertVerifierId(sql, companyId, verifierId)).count === 1) return verifierId
  }
  throw new Error('no free verifier id was found')
}

/** The verifier of a company; a verifier of another company is as unknown as none. */
export const requireVerifier = (
  sql: Sql,
  companyId: number,
  kind: VerifierKind,
  verifierId: string,
): Promise<Verifier> => verifierFinder(sql)(companyId, kind, verifierId)

type VerifierKey = Pick<Verifier, 'companyId' | 'verifierId'>

const idOf = ({ companyId, verifierId }: VerifierKey) => `${companyId}/${verifierId}`

/**
 * Finds verifiers for many requests. Requests of the same turn of the event loop share one statement. No request joins a
 * statement that was already sent, so a change of a verifier acts on the next code.
 */
export function verifierFinder(sql: Sql) {
  const find = createBatcher(async (ids: VerifierKey[]) => {
    const verifiers = await store.selectVerifiersById(sql, ids)
    const found = new Map(verifiers.map(verifier => [idOf(verifier), verifier]))
    return ids.map(id => found.get(idOf(id)))
  })

  return async (companyId: number, kind: VerifierKind, verifierId: string): Promise<Verifier> => {
    const verifier = await find({ companyId, verifierId })
    if (verifier?.kind !== kind) throw notFound(kind === 'API' ? 'Verifier' : 'Widget')
    return verifier
  }
}

/** For staff, who know a verifier by its id alone. */
export async function requireAnyVerifier(sql: Sql, kind: VerifierKind, verifierId: string): Promise<Verifier> {
  const [found] = await store.selectCompanyOf(sql, verifierId)
  if (!found) throw notFound(kind === 'API' ? 'Verifier' : 'Widget')
  return requireVerifier(sql, found.companyId, kind, verifierId)
}

/** The widget that a page names; undefined when there is none, or its company is disabled. */
export async function findWidget(sql: Sql, widgetId: string): Promise<Widget | undefined> {
  const [owner] = await store.selectCompanyOf(sql, widgetId)
  const [widget] = owner ? await store.selectWidget(sql, owner.companyId, widgetId) : []
  return widget
}

/** Whether a company has or had a verifier or widget with this id: statistics outlive it. */
export async function hadVerifier(sql: Sql, companyId: number, verifierId: string): Promise<boolean> {
  const [found] = await store.selectCompanyOf(sql, verifierId)
  return found?.companyId === companyId
}

type VerifierChange = VerifierOptions | ((before: Verifier) => VerifierOptions)

/**
 * Changes the given fields. The change acts on the next code. A function gets the locked verifier, so that two changes at
 * the same time do not undo each other.
 */
export async function changeVerifier(pool: Pool, verifier: Verifier, change: VerifierChange): Promise<void> {
  await pool.begin(sql => changeVerifierIn(sql, verifier, change))
}

/** The same within a transaction. Returns the verifier as it was and as it is. */
export async function changeVerifierIn(
  sql: Transaction,
  { companyId, kind, verifierId }: Verifier,
  change: VerifierChange,
): Promise<{ before: Verifier; after: Verifier }> {
  const [before] = await store.lockVerifier(sql, companyId, verifierId)
  if (!before) throw notFound(kind === 'API' ? 'Verifier' : 'Widget')
  const after = changed(before, typeof change === 'function' ? change(before) : change)
  refuseBad(after)
  await store.updateVerifier(sql, companyId, verifierId, after)
  return { before, after: { ...before, ...after } }
}

/** Differs after every change that differs: a form that began with another version does not overwrite this one. */
export function versionOf({ name, settings, page, captchaSecret }: Verifier): string {
  const content = JSON.stringify([name, settings, page, captchaSecret?.toString('hex') ?? null])
  return createHash('sha256').update(content).digest('base64url').slice(0, 22)
}

function changed(before: Verifier, options: VerifierOptions): store.VerifierChange {
  return {
    name: options.name ?? before.name,
    settings: { ...before.settings, ...options.settings },
    page: before.page && { ...before.page, ...options.page },
    captchaSecret: options.captchaSecret === undefined ? before.captchaSecret : options.captchaSecret,
  }
}
