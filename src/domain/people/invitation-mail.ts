import type { Mail } from '../../base/mail/mail.ts'
import { isMailAddress } from '../partners/partner.ts'
import type { Language, Place } from './person.ts'

/** The link of a person, as the mail with it tells about it. */
export type LinkMail = {
  language: Language
  /** The login of the person. */
  to: string
  /** Undefined for the command line, and for staff who invite people of companies and partners. */
  inviter: string | undefined
  kind: Place['kind']
  /** The name of the company, or the login of the partner. The staff have none. */
  place: string
  /** Whether the person has no password yet. */
  isInvitation: boolean
  link: string
  expiresAt: Date
  /** The time zone in which the mail names the end of the link. */
  zone: string
}

const MOST_NAME = 80

/** The mail with the link with which a person chooses a password. */
export function linkMailOf(given: LinkMail): Mail {
  const { language, to, link } = given
  const words = { en, ru }[language]
  const place = words[given.kind](shownName(given.place))
  const by = given.inviter && shownName(given.inviter)
  const [subject, first] = given.isInvitation ? words.invitation(place, by) : words.newPassword(place, by)
  const above = [words.greeting, first, words.use(momentOf(given))]
  const below = [words.login(to), words.unexpected]
  return {
    to,
    subject,
    text: [...above, link, ...below, ''].join('\n\n'),
    html: [
      `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${inHtml(subject)}</title></head><body>`,
      ...above.map(paragraph),
      `<p><a href="${inHtml(link)}">${words.button}</a></p>`,
      ...below.map(paragraph),
      '</body></html>',
    ].join('\n'),
  }
}

/**
 * A name in one short line. Without control characters it adds no header to the mail. Mail programs make links of texts
 * such as `www.evil.example` and `evil.example/win`, therefore a space follows each dot inside a word. It is not an
 * invisible character, because browsers ignore some of these in domains. A whole mail address stays as it is: a mail
 * program makes a link for writing to it, not a link to a site.
 */
function shownName(name: string): string {
  const line = name
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .replaceAll(/:\/\/|\\\\/g, ' ')
    .trim()
  return shortened(isMailAddress(line) ? line : line.replaceAll(DOT_INSIDE, '$& '))
}

/** Also the dots of other scripts, which browsers read as dots of a domain. */
const DOT_INSIDE = /[.\u2024\u3002\ufe52\uff0e\uff61](?=[\p{L}\p{M}\p{N}])/gu

function shortened(line: string): string {
  const characters = [...line]
  return characters.length > MOST_NAME ? `${characters.slice(0, MOST_NAME).join('')}…` : line
}

const momentOf = ({ expiresAt, language, zone }: LinkMail) =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    timeZone: zone,
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'shortOffset',
  }).format(expiresAt)

const paragraph = (text: string) => `<p>${inHtml(text)}</p>`

const inHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

type Words = Record<Place['kind'], (name: string) => string> & {
  greeting: string
  /** The subject and the first sentence. */
  invitation(place: string, by: string | undefined): [string, string]
  newPassword(place: string, by: string | undefined): [string, string]
  use(until: string): string
  button: string
  login(login: string): string
  unexpected: string
}

const en: Words = {
  COMPANY: name => `the company “${name}”`,
  PARTNER: name => `the partner “${name}”`,
  STAFF: () => 'the staff of Tidings',
  greeting: 'Hello,',
  invitation: (place, by) => [
    `Invitation to the cabinet of ${place}`,
    by ? `${by} invites you to the cabinet of ${place}.` : `You are invited to the cabinet of ${place}.`,
  ],
  newPassword: (place, by) => [
    `New password for the cabinet of ${place}`,
    by
      ? `${by} sends you a link for a new password for the cabinet of ${place}.`
      : `This is your link for a new password for the cabinet of ${place}.`,
  ],
  use: until => `Open the link and choose a password. The link works once, until ${until}:`,
  button: 'Choose a password',
  login: login => `Your login: ${login}`,
  unexpected: 'If you did not expect this mail, delete it. Do not pass the link on.',
}

const ru: Words = {
  COMPANY: name => `компании «${name}»`,
  PARTNER: name => `партнёра «${name}»`,
  STAFF: () => 'сотрудников Tidings',
  greeting: 'Здравствуйте!',
  invitation: (place, by) => [
    `Приглашение в кабинет ${place}`,
    by ? `${by} приглашает вас в кабинет ${place}.` : `Вас приглашают в кабинет ${place}.`,
  ],
  newPassword: (place, by) => [
    `Новый пароль для кабинета ${place}`,
    by
      ? `${by} отправляет вам ссылку, по которой можно задать новый пароль для кабинета ${place}.`
      : `По этой ссылке можно задать новый пароль для кабинета ${place}.`,
  ],
  use: until => `Откройте ссылку и задайте пароль. Она сработает один раз, до ${until}:`,
  button: 'Задать пароль',
  login: login => `Ваш логин: ${login}`,
  unexpected: 'Если вы не ждали этого письма, удалите его. Не передавайте ссылку другим.',
}
