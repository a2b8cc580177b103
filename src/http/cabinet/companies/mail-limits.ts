import { LRUCache } from 'lru-cache'
import type { Sql } from '../../../db/sql.ts'
import { requireAnyCompany } from '../../../domain/companies/companies.ts'
import type { Place, Viewer } from '../../../domain/people/person.ts'

/** `name` is for the log. The key can have an address. */
export type MailLimit = { name: string; key: string; most: number }

const HOUR_MS = 3600_000
/** More mails would annoy the owner of the address. */
const MOST_TO_ADDRESS = 5
/** Without this limit an owner could invite strangers, and send any number of mails that contain a name which the owner chose. */
const MOST_OF_PERSON = 50
/** An owner can invite further owners, and each owner may send `MOST_OF_PERSON` mails. So the company has a limit, too. */
const MOST_FOR_COMPANY = 100
/** A partner can create further companies, and each company has owners. So the partner has a limit, too. */
const MOST_FOR_PARTNER = 300

/** The limits for mails of this person to people of this place. The staff have no limit as a place. */
export async function limitsOf(sql: Sql, { personId }: Viewer, place: Place): Promise<MailLimit[]> {
  const ofPerson = { name: 'person', key: `person ${personId}`, most: MOST_OF_PERSON }
  if (place.kind === 'STAFF') return [ofPerson]
  if (place.kind === 'PARTNER') return [ofPerson, forPartner(place.partnerId)]
  const { companyId, partnerId } = await requireAnyCompany(sql, place.companyId)
  return [ofPerson, { name: 'company', key: `company ${companyId}`, most: MOST_FOR_COMPANY }, forPartner(partnerId)]
}

const forPartner = (partnerId: number) => ({
  name: 'partner',
  key: `partner ${partnerId}`,
  most: MOST_FOR_PARTNER,
})

export const limitTo = (address: string): MailLimit => ({
  name: 'address',
  key: `to ${address.toLowerCase()}`,
  most: MOST_TO_ADDRESS,
})

/** Counts the mails of an hour, in this process. */
export class MailCounter {
  readonly #counts = new LRUCache<string, number>({ max: 10_000, ttl: HOUR_MS, noUpdateTTL: true })

  /** Counts a mail in all limits. If one of them is reached, counts nothing and returns it. */
  count(limits: MailLimit[]): MailLimit | undefined {
    const reached = limits.find(({ key, most }) => this.#countOf(key) >= most)
    if (reached) return reached
    for (const { key } of limits) this.#counts.set(key, this.#countOf(key) + 1)
  }

  /** Takes back a mail that was counted and not sent. */
  takeBack(limits: MailLimit[]) {
    for (const { key } of limits) if (this.#countOf(key) > 0) this.#counts.set(key, this.#countOf(key) - 1)
  }

  #countOf(key: string): number {
    return this.#counts.get(key) ?? 0
  }
}
