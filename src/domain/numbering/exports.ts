import { AppError } from '../../base/errors.ts'
import type { Sql } from '../../db/sql.ts'
import { brandOf } from './brand.ts'
import { PORTED_HEADING } from './imports.ts'
import { codeOf } from './lookup.ts'
import { includedPlan } from './plan.ts'
import { registerLineOf } from './register.ts'
import { rangesOfCode } from './state.ts'
import * as store from './store.ts'

const PORTED_PAGE = 20_000

export type Export = { version: number; pieces: AsyncGenerator<string> }

/**
 * The numbering plan as a file that the imports read. It holds the plan of one version: an import in the meantime ends
 * the file with an error.
 */
export async function exportNumbering(sql: Sql, kind: store.SourceKind): Promise<Export> {
  const version = await store.findVersion(sql)
  const pieces = kind === 'register' ? registerPieces(sql) : portedPieces(sql)
  return { version, pieces: ofOneVersion(sql, version, pieces) }
}

async function* ofOneVersion(sql: Sql, version: number, pieces: AsyncGenerator<string>) {
  for await (const piece of pieces) {
    if ((await store.findVersion(sql)) !== version)
      throw new AppError('not_ready', 'The numbering plan was changed in the meantime: export it again')
    yield piece
  }
}

const REGISTER_HEADING = 'АВС/ DEF;От;До;Емкость;Оператор;Регион;Территория ГАР;ИНН\n'

/** One piece for each code, from the imported register or from the carried plan. */
async function* registerPieces(sql: Sql) {
  yield REGISTER_HEADING
  const imported = new Set((await store.findImportedCodes(sql)).map(({ code }) => code))
  const carried = new Set(includedPlan().map(({ first }) => codeOf(first)))
  for (const code of [...new Set([...imported, ...carried])].sort((a, b) => a - b)) {
    const ranges = await rangesOfCode(sql, code, imported.has(code))
    yield ranges.map(range => `${registerLineOf(range)}\n`).join('')
  }
}

/** The heading comes with the first numbers: alone it is an empty list, and a file that breaks off must not be one. */
async function* portedPieces(sql: Sql) {
  let page = await store.findPortedAfter(sql, 0, PORTED_PAGE)
  yield `${PORTED_HEADING}\n${portedLines(page)}`
  while (page.length > 0) {
    page = await store.findPortedAfter(sql, page.at(-1)!.number, PORTED_PAGE)
    if (page.length > 0) yield portedLines(page)
  }
}

const portedLines = (page: readonly { number: number; brandId: number }[]) =>
  page.map(({ number, brandId }) => `${number};${brandOf(brandId)}\n`).join('')
