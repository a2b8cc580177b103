import type { FastifyRequest } from 'fastify'
import type { MailFailure, MailResult } from '../../../base/mail/mail.ts'
import { isMailAddress } from '../../../domain/partners/partner.ts'
import { type LinkMail, linkMailOf } from '../../../domain/people/invitation-mail.ts'
import { nameOfPlace } from '../../../domain/people/people.ts'
import { type Language, languages, type Place } from '../../../domain/people/person.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { limitsOf, limitTo, MailCounter, type MailLimit } from './mail-limits.ts'

/** The mail with a link: the address, and why the mail was not sent. Null without a mail server. */
export type MailAnswer = { to: string; failure: MailFailure | null } | null

type Link = Pick<LinkMail, 'link' | 'expiresAt' | 'isInvitation'> & { personId: number; login: string }
export type Letter = (link: Link) => Promise<MailAnswer>

/** Failures before the mail server knew of the mail. They do not count as mails. */
const notTried: readonly (MailFailure | null)[] = ['busy', 'unreachable', 'timeout', 'not_secure', 'sign_in']

/** Mails the links of invitations. A link that was made is never lost: every failure is part of the answer. */
export class LinkMails {
  readonly #context: CabinetContext
  readonly #counter = new MailCounter()

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
    const limits = await limitsOf(sql, viewer, place)
    return async link => {
      const { login: to, personId } = link
      const startedAt = performance.now()
      const sent = await this.#send({ ...about, ...link, to }, [limitTo(to), ...limits])
      const line = { personId, invitedBy: viewer.personId, ms: Math.round(performance.now() - startedAt) }
      this.#log(line, sent)
      return { to, failure: sent.failure }
    }
  }

  async #send(mail: LinkMail, limits: MailLimit[]): Promise<MailResult> {
    if (!isMailAddress(mail.to)) return { failure: 'no_address', detail: 'the login is a plain name' }
    const reached = this.#counter.count(limits)
    if (reached) return { failure: 'too_many', detail: `${reached.most} mails in an hour by the ${reached.name}` }
    const sent = await this.#try(mail)
    if (notTried.includes(sent.failure)) this.#counter.takeBack(limits)
    return sent
  }

  async #try(mail: LinkMail): Promise<MailResult> {
    try {
      return await this.#context.mails!.send(linkMailOf(mail))
    } catch (error) {
      return { failure: 'failed', detail: 'a bug of the service', error }
    }
  }

  #log(line: object, sent: MailResult) {
    const { log } = this.#context
    if (sent.failure === null) return log.info(line, 'link.mailed')
    const { failure: reason, detail, error } = sent
    if (reason === 'failed') log.error({ ...line, reason, detail, err: withoutMessage(error) }, 'link.not_mailed')
    else if (reason === 'no_address') log.info({ ...line, reason }, 'link.not_mailed')
    else log.warn({ ...line, reason, detail }, 'link.not_mailed')
  }
}

/** The message and other fields of an error can repeat parts of the mail. The first lines of the stack repeat the message. */
function withoutMessage(error: unknown) {
  if (!(error instanceof Error)) return { name: typeof error }
  const { name, code, stack = '' } = error as NodeJS.ErrnoException
  const frames = stack.split('\n').filter(line => /^ {4}at /.test(line))
  return { name, code, stack: frames.join('\n') }
}

/** The first language of the browser that we have. */
function languageOf(accepted = ''): Language | undefined {
  const wanted = accepted.split(',').map(item => item.trim().slice(0, 2).toLowerCase())
  return languages.find(language => language === wanted.find(one => (languages as readonly string[]).includes(one)))
}
