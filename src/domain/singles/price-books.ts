import type { Pool } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { openPriceBook, type PriceBook } from '../pricing/pricing.ts'

const FRESH_MS = 1000
const MOST_BOOKS = 1000

/** Caches the prices of companies for a second, because prices seldom change. */
export class PriceBooks {
  readonly #sql: Pool
  readonly #books = new Map<number, { readAt: number; book: Promise<PriceBook> }>()

  constructor(sql: Pool) {
    this.#sql = sql
  }

  of(companyId: number): Promise<PriceBook> {
    const known = this.#books.get(companyId)
    if (known && performance.now() - known.readAt < FRESH_MS) return known.book
    if (this.#books.size >= MOST_BOOKS) this.#books.clear()
    const book = requireAnyCompany(this.#sql, companyId).then(({ partnerId }) => openPriceBook(this.#sql, partnerId))
    this.#books.set(companyId, { readAt: performance.now(), book })
    book.catch(() => this.#books.delete(companyId))
    return book
  }
}
