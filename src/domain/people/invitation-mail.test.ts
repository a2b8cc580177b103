import { expect, test } from 'vitest'
import { type LinkMail, linkMailOf } from './invitation-mail.ts'

const LINK = 'https://sms.example/cabinet/accept-invitation#token-of-the-link'
const given: LinkMail = {
  language: 'en',
  to: 'anna@shop.example',
  inviter: 'Boris',
  kind: 'COMPANY',
  place: 'Romashka',
  isInvitation: true,
  link: LINK,
  expiresAt: new Date('2026-11-25T19:55:00Z'),
  zone: 'Europe/Moscow',
}
const count = (text: string, part: string) => text.split(part).length - 1

test('the mail names the inviting person, the company and the end of the link, and has the link once in each text', () => {
  const { to, subject, text, html } = linkMailOf(given)
  expect([to, subject]).toEqual(['anna@shop.example', 'Invitation to the cabinet of the company “Romashka”'])
  expect(text).toContain('Boris invites you to the cabinet of the company “Romashka”.')
  expect(text).toMatch(/works once, until 25 November 2026(?:,| at) 22:55 GMT\+3:/)
  expect([count(text, LINK), count(html, LINK)]).toEqual([1, 1])
})

test('the mail is in Russian for a person who uses Russian', () => {
  const { subject, text } = linkMailOf({ ...given, language: 'ru', kind: 'PARTNER', place: 'vesna' })
  expect(subject).toBe('Приглашение в кабинет партнёра «vesna»')
  expect(text).toContain('Boris приглашает вас в кабинет партнёра «vesna».')
  expect(text).toMatch(/до 25 ноября 2026 г\.(?:,| в) 22:55 GMT\+3:/)
})

test('a person with a password gets a mail about a new password, without a name where the sender stays unnamed', () => {
  const { subject, text } = linkMailOf({ ...given, isInvitation: false, inviter: undefined, kind: 'STAFF', place: '' })
  expect(subject).toBe('New password for the cabinet of the staff of Tidings')
  expect(text).toContain('This is your link for a new password for the cabinet of the staff of Tidings.')
})

test('names add no header, no markup, no link and no long text', () => {
  const place = 'A\r\nBcc: eve@evil.example\u2028\u202e <img onerror="x"> & https://evil.example'
  const { subject, text, html } = linkMailOf({ ...given, place, inviter: 'x'.repeat(500) })
  expect(subject).not.toMatch(/[\r\n\u2028\u202e]/)
  expect(text).not.toContain('https://evil')
  expect(text).not.toContain('x'.repeat(81))
  expect(html).toContain('&lt;img onerror=&quot;x&quot;&gt; &amp;')
  expect(html).not.toContain('<img')
})

test.each([
  ['www.evil.example', 'www. evil. example'],
  ['evil.example/x', 'evil. example/x'],
  ['Win: HTTPS://evil.example/x', 'Win: HTTPS evil. example/x'],
  ['evil。example．com', 'evil。 example． com'],
  ['eve@evil.example/x', 'eve@evil. example/x'],
  ['1.2.3.4/x', '1. 2. 3. 4/x'],
  ['ООО «Ромашка», г. Орёл...', 'ООО «Ромашка», г. Орёл...'],
  ['boris@shop.example', 'boris@shop.example'],
])('mail programs make no link to a site of the name %j', (name, shown) => {
  const { subject, text, html } = linkMailOf({ ...given, place: name, inviter: name })
  expect(subject).toBe(`Invitation to the cabinet of the company “${shown}”`)
  const sentence = `${shown} invites you to the cabinet of the company “${shown}”.`
  expect(text).toContain(sentence)
  expect(html).toContain(sentence)
})
