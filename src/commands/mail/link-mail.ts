import type { MailFailure } from '../../base/mail/mail.ts'
import type { Sql } from '../../db/sql.ts'
import { isMailAddress } from '../../domain/partners/partner.ts'
import { linkMailOf } from '../../domain/people/invitation-mail.ts'
import { nameOfPlace } from '../../domain/people/people.ts'
import type { Person, Place } from '../../domain/people/person.ts'
import type { Call } from '../command.ts'
import { openMailer } from './open-mailer.ts'

export type Addressee = Place & Pick<Person, 'login' | 'isInvited'>

type Link = { link: string; expiresAt: Date }
type Mailed = { failure: MailFailure | null; detail?: string }

/**
 * Mails the link of an invitation. Undefined without a mail server, and with `--no-mail`. The link is committed, so an
 * error is a result, and the command still prints the link.
 */
export async function mailLink(call: Call, sql: Sql, person: Addressee, link: Link): Promise<Mailed | undefined> {
  if (call.switches['no-mail'] || !call.config.smtp) return
  if (!isMailAddress(person.login)) return { failure: 'no_address' }
  call.progress(`Mailing the link to ${person.login} ...`)
  return send(call, sql, person, link).catch(
    (error): Mailed => ({ failure: 'failed', detail: (error as Error).message }),
  )
}

async function send({ config }: Call, sql: Sql, person: Addressee, link: Link): Promise<Mailed> {
  const sendMail = await openMailer(config)
  const { mailLanguage: language, billingZone: zone } = config
  const { login: to, isInvited: isInvitation, kind } = person
  const place = await nameOfPlace(sql, person)
  return sendMail!(linkMailOf({ language, zone, kind, place, inviter: undefined, to, isInvitation, ...link }))
}

export const mailFailureWords: Record<MailFailure, string> = {
  no_address: 'the login is not an e-mail address',
  too_many: 'a limit of mails in an hour is reached',
  busy: 'too many mails are being sent',
  unreachable: 'the mail server cannot be reached, or it closed the connection',
  timeout: 'the mail server did not answer in time',
  unknown: 'the mail server did not confirm that it took the mail',
  not_secure: 'the mail server has no encryption or no valid certificate',
  sign_in: 'the mail server refused the user or the password of TIDINGS_SMTP_URL, or wants them',
  address_refused: 'the mail server refused the address',
  refused: 'the mail server refused the mail',
  failed: 'an error of Tidings',
}
