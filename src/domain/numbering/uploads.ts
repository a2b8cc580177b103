import { AppError, invalid, notFound } from '../../base/errors.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { brandOf } from './brand.ts'
import { type ChangeKind, changeKinds, compareRanges, type RangeChange } from './difference.ts'
import { addPorted, findUnknownRegions, readPorted, readRegister, replaceRegister } from './imports.ts'
import { regionOf } from './region.ts'
import { CODE_SIZE, numberOf, type PlanRange } from './register.ts'
import { rangeOf, rangesOfCode } from './state.ts'
import * as store from './store.ts'

/**
 * A file of the numbering plan arrives in pieces. It is compared with the current plan, and applied after a person has
 * seen the difference. The database keeps it for at most an hour, so that every process can continue with it.
 */

export const PIECE_BYTES = 2 * 1024 * 1024
export const LARGEST_BYTES = 160 * 1024 * 1024
const MOST_UPLOADS = 4
const KEEP_MS = 3600_000
const MOST_SAMPLES = 20

export type Upload = Omit<store.UploadRow, 'difference'> & { difference: Difference | null; expiresAt: Date }

export type Difference = {
  /** Lines of the file. */
  entries: number
  /** Of a register: the codes of which it replaces the ranges. */
  codes: number
  /** Regions that we do not know; their numbers count as being on Moscow time. */
  unknownRegions: string[]
  changes: Record<ChangeKind, { ranges: number; numbers: number; samples: Sample[] }>
}

/** The numbers from first to last, with their operator before and after. Ported numbers have only a brand. */
export type Sample = {
  first: number
  last: number
  before: { operator: string; region: string | null } | null
  after: { operator: string; region: string | null } | null
}

type NewUpload = Pick<store.UploadRow, 'kind' | 'name' | 'replaces' | 'sizeBytes'>

export async function startUpload(sql: Pool, upload: NewUpload, now: Date): Promise<number> {
  if (upload.sizeBytes > LARGEST_BYTES) throw new AppError('too_large', 'The file is larger than 160 MB')
  return sql.begin(async tx => {
    await store.lockUploads(tx)
    await store.deleteUploadsBefore(tx, oldest(now))
    if ((await store.countUploads(tx)) >= MOST_UPLOADS)
      throw invalid('Four files wait already: apply or remove one of them, or try again in an hour')
    return store.insertUpload(tx, { ...upload, createdAt: now })
  })
}

const oldest = (now: Date) => new Date(now.getTime() - KEEP_MS)

/** Files that wait to be applied, the oldest first: at most four. */
export async function waitingUploads(sql: Sql, now: Date) {
  const rows = await store.selectUploads(sql, oldest(now))
  return rows.map(({ uploadId, kind, name, createdAt }) => ({ uploadId, kind, name, expiresAt: expiryOf(createdAt) }))
}

export async function requireUpload(sql: Sql, uploadId: number, now: Date): Promise<Upload> {
  const [upload] = await store.findUpload(sql, uploadId, oldest(now))
  if (!upload) throw notFound('File')
  return readUpload(upload)
}

const readUpload = (row: store.UploadRow): Upload => ({
  ...row,
  difference: row.difference as Difference | null,
  expiresAt: expiryOf(row.createdAt),
})

const expiryOf = (createdAt: Date) => new Date(createdAt.getTime() + KEEP_MS)

/** A piece that was sent before is replaced: the page repeats what got no answer. */
export async function addPiece(sql: Sql, uploadId: number, piece: number, content: Buffer, now: Date): Promise<void> {
  const { sizeBytes } = await requireUpload(sql, uploadId, now)
  const expected = Math.min(PIECE_BYTES, sizeBytes - piece * PIECE_BYTES)
  if (content.length !== expected) throw invalid(`The piece must have ${Math.max(expected, 0)} bytes`)
  await store.savePiece(sql, uploadId, piece, content)
}

/** Reads the file and keeps what it would change. */
export async function compareUpload(sql: Pool, uploadId: number, now: Date): Promise<Upload> {
  await sql.begin('isolation level repeatable read', async tx => {
    await allowLongWork(tx)
    const upload = await lockWhole(tx, uploadId, now)
    const version = await store.findVersion(tx)
    const source = piecesOf(sql, upload)
    const difference =
      upload.kind === 'register'
        ? await compareRegister(tx, source, upload.replaces)
        : await comparePorted(tx, source, upload.replaces)
    await store.saveDifference(tx, uploadId, version, difference)
  })
  return requireUpload(sql, uploadId, now)
}

/** The file, once all of it has arrived; others wait until the transaction is over. */
async function lockWhole(tx: Transaction, uploadId: number, now: Date): Promise<store.UploadRow> {
  const [upload] = await store.lockUpload(tx, uploadId, oldest(now))
  if (!upload) throw notFound('File')
  if ((await store.sizeOfPieces(tx, uploadId)) !== upload.sizeBytes) throw invalid('The file has not arrived yet')
  return upload
}

/** Reads over other connections, because the connection of the transaction copies these rows at the same time. */
async function* piecesOf(sql: Pool, { uploadId, sizeBytes }: store.UploadRow): AsyncGenerator<Buffer> {
  for (let piece = 0; piece * PIECE_BYTES < sizeBytes; piece += 1) {
    const [row] = await store.findPiece(sql, uploadId, piece)
    yield row!.content
  }
}

async function compareRegister(tx: Transaction, source: AsyncIterable<Buffer>, replaces: boolean): Promise<Difference> {
  const entries = await readRegister(tx, source)
  await store.prepareRegisterLines(tx)
  const listed = new Set((await store.findListedCodes(tx)).map(({ code }) => code))
  const imported = new Set((await store.findImportedCodes(tx)).map(({ code }) => code))
  const changes = noChanges()
  for (const code of new Set([...listed, ...(replaces ? imported : [])])) {
    const before = await rangesOfCode(tx, code, imported.has(code))
    const after = listed.has(code) ? await listedRanges(tx, code) : await rangesOfCode(tx, code, false)
    for (const change of compareRanges(before, after)) count(changes, change)
  }
  return {
    entries,
    codes: listed.size,
    unknownRegions: (await findUnknownRegions(tx)).slice(0, MOST_SAMPLES),
    changes,
  }
}

const listedRanges = async (tx: Transaction, code: number): Promise<PlanRange[]> =>
  (await store.findListedRanges(tx, numberOf(String(code), 0), numberOf(String(code), CODE_SIZE - 1))).map(rangeOf)

const noChanges = () =>
  Object.fromEntries(
    changeKinds.map(kind => [kind, { ranges: 0, numbers: 0, samples: [] }]),
  ) as unknown as Difference['changes']

function count(changes: Difference['changes'], { kind, first, last, before, after }: RangeChange) {
  const counted = changes[kind]
  counted.ranges += 1
  counted.numbers += last - first + 1
  if (counted.samples.length < MOST_SAMPLES)
    counted.samples.push({ first, last, before: holderOf(before), after: holderOf(after) })
}

const holderOf = (holder: RangeChange['before']) =>
  holder && { operator: holder.operator.name, region: regionOf(holder.region).name }

async function comparePorted(tx: Transaction, source: AsyncIterable<Buffer>, replaces: boolean): Promise<Difference> {
  const entries = await readPorted(tx, source, replaces)
  const changes = noChanges()
  for (const { kind, numbers, samples } of await store.comparePorted(tx, replaces, MOST_SAMPLES))
    changes[kind] = { ranges: numbers, numbers, samples: (samples ?? []).map(portedSample) }
  return { entries, codes: 0, unknownRegions: [], changes }
}

const portedSample = ({ number, before, after }: store.PortedSample): Sample => ({
  first: number,
  last: number,
  before: brandHolder(before),
  after: brandHolder(after),
})

const brandHolder = (brandId: number | null) =>
  brandId === null ? null : { operator: brandOf(brandId) ?? '', region: null }

export type AppliedUpload = Pick<store.UploadRow, 'kind' | 'name' | 'replaces'> & { result: Record<string, number> }

/** Applies what somebody has seen. Refused when the plan is no longer the one with which the file was compared. */
export async function applyUpload(
  sql: Pool,
  tx: Transaction,
  uploadId: number,
  version: number,
  now: Date,
): Promise<AppliedUpload> {
  await allowLongWork(tx)
  const upload = await lockWhole(tx, uploadId, now)
  const source = piecesOf(sql, upload)
  if (upload.version !== version || (await store.lockVersion(tx)) !== version)
    throw invalid('The numbering plan was changed in the meantime: compare the file again')
  const { kind, name, replaces } = upload
  const result =
    kind === 'register'
      ? await applyRegister(tx, source, name, replaces)
      : await applyPorted(tx, source, name, replaces)
  await store.deleteUpload(tx, uploadId)
  return { kind, name, replaces, result }
}

async function applyRegister(tx: Transaction, source: AsyncIterable<Buffer>, name: string, replace: boolean) {
  const { ranges, codes } = await replaceRegister(tx, source, { replace, name })
  return { ranges, areas: codes }
}

const applyPorted = (tx: Transaction, source: AsyncIterable<Buffer>, name: string, replace: boolean) =>
  addPorted(tx, source, { replace, name })

export async function removeUpload(sql: Sql, uploadId: number, now: Date): Promise<void> {
  await requireUpload(sql, uploadId, now)
  await store.deleteUpload(sql, uploadId)
}

export const forgetOldUploads = (sql: Sql, now: Date) => store.deleteUploadsBefore(sql, oldest(now))
