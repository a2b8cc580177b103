import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { MailFailure, MailResult } from '../../../base/mail/mail.ts'
import { isMailAddress } from '../../../domain/partners/partner.ts'
import { type LinkMail, linkMailOf } from '../../../domain/people/invitation-mail.ts'
import { nameOfPlace } from '../../../domain/people/people.ts'
import { type Language, languages, type Place } from '../../../domain/people/person.ts'
import type { CabinetContext } from '../cabinet-context.ts'

/** The mail with a link: the address, and why the mail was not sent. Null without a mail server. */
export type MailAnswer = { to: string; failure: MailFailure | null } | null

type Link = Pick<LinkMail, 'link' | 'expiresAt' | 'isInvitation'> & { personId: number; login: string }
export type Letter = (link: Link) => Promise<MailAnswer>

const HOUR_MS = 3600_000
/** More mails would be a nuisance for the owner of the address. */
const MOST_TO_ADDRESS = 5
/** An owner who invites strangers could otherwise send any number of mails with a name of the own choice. */
const MOST_OF_PERSON = 50

/** Mails the links of invitations. A link that was made is never lost: every failure is part of the answer. */
export class LinkMails {
  readonly #context: CabinetContext
  readonly #sentLately = new LRUCache<string, number>({ max: 10_000, ttl: HOUR_MS, noUpdateTTL: true })

  constructor(context: CabinetContext) {
    this.#context = context
  }

  /** Reads what the mail says. This comes before the link is made, because it can fail. The result sends the mail. */
  async prepare(request: FastifyRequest, place: Place): Promise<Letter> {
    const { sql, mails, billingZone: zone } = this.#context
    if (!mails) return async () => null
    const { viewer } = request
    const isNamed = viewer.kind !== 'STAFF' || place.kind === 'STAFF' // others do not learn the names of staff
    const about = {
      language: viewer.language ?? languageOf(request.headers['accept-language']) ?? mails.language,
      inviter: isNamed ? viewer.name || viewer.login : undefined,
      kind: place.kind,
      place: await nameOfPlace(sql, place),
      zone,
    }
    return async link => {
      const { login: to, personId } = link
      const startedAt = performance.now()
      const sent = await this.#send(viewer.personId, { ...about, ...link, to })
      const line = { personId, invitedBy: viewer.personId, ms: Math.round(performance.now() - startedAt) }
      this.#log(line, sent)
      return { to, failure: sent.failure }
    }
  }

  async #send(viewerId: number, mail: LinkMail): Promise<MailResult> {
    if (!isMailAddress(mail.to)) return { failure: 'no_address', detail: 'the login is a plain name' }
    if (!this.#mayMail(viewerId, mail.to)) return { failure: 'too_many', detail: 'the limit of an hour is reached' }
    try {
      return await this.#context.mails!.send(linkMailOf(mail))
    } catch (error) {
      return { failure: 'failed', detail: 'a bug of the service', error }
    }
  }

  #mayMail(viewerId: number, address: string): boolean {
    const limits: [string, number][] = [
      [`to ${address.toLowerCase()}`, MOST_TO_ADDRESS],
      [`of ${viewerId}`, MOST_OF_PERSON],
    ]
    if (limits.some(([key, most]) => (this.#sentLately.get(key) ?? 0) >= most)) return false
    for (const [key] of limits) this.#sentLately.set(key, (this.#sentLately.get(key) ?? 0) + 1)
    return true
  }

  #log(line: object, sent: MailResult) {
    const { log } = this.#context
    if (sent.failure === null) return log.info(line, 'link.mailed')
    const { failure: reason, detail, error: err } = sent
    if (reason === 'failed') log.error({ ...line, reason, detail, err }, 'link.not_mailed')
    else if (reason === 'no_address') log.info({ ...line, reason }, 'link.not_mailed')
    else log.warn({ ...line, reason, detail }, 'link.not_mailed')
  }
}

/** The first language of the browser that we have. */
function languageOf(accepted = ''): Language | undefined {
  const wanted = accepted.split(',').map(item => item.trim().slice(0, 2).toLowerCase())
  return languages.find(language => language === wanted.find(one => (languages as readonly string[]).includes(one)))
}
