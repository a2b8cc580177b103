import { Readable } from 'node:stream'
import { createTransport } from 'nodemailer'
import type { Mail, MailFailure, MailResult } from '../../base/mail/mail.ts'
import type { SmtpServer } from '../../base/mail/smtp-server.ts'

export type MailerSettings = {
  server: SmtpServer
  from: string
  /** Certificates to trust instead of the usual ones. */
  ca?: string
  /** The time for the whole mail. */
  mailMs?: number
  /** Mails at a time. */
  most?: number
}
type Settings = Required<Omit<MailerSettings, 'ca'>> & Pick<MailerSettings, 'ca'>

/**
 * The request of a person waits for the mail this long; the cabinet waits 30 seconds for an answer. A step has no shorter
 * limit, because mail servers pause on purpose: Postfix greets after 6 seconds, and filters read the mail before the answer.
 */
const MAIL_MS = 20_000
const MOST_AT_ONCE = 10

/** Sends mails through an SMTP server. Each mail has a connection of its own, and is tried once. */
export class SmtpMailer {
  readonly #settings: Settings
  #sending = 0

  constructor(given: MailerSettings) {
    this.#settings = { mailMs: MAIL_MS, most: MOST_AT_ONCE, ...given }
  }

  send = async (mail: Mail): Promise<MailResult> => {
    const { from, mailMs, most } = this.#settings
    if (this.#sending >= most) return { failure: 'busy', detail: `${most} mails are being sent` }
    this.#sending++
    let isHandedOver = false
    try {
      const transport = transportTo(this.#settings, () => {
        isHandedOver = true
      })
      const signal = AbortSignal.timeout(mailMs)
      await transport.sendMail({ ...mail, from, headers: { 'Auto-Submitted': 'auto-generated' }, signal })
      return { failure: null }
    } catch (error) {
      return failureOf(error as SmtpError, isHandedOver)
    } finally {
      this.#sending--
    }
  }
}

/** The transport for one mail. It calls `handOver` right before the server gets the first bytes of the mail. */
function transportTo({ server, ca, mailMs }: Settings, handOver: () => void) {
  const { host, port, tls, user, password } = server
  const transport = createTransport({
    host,
    port,
    secure: tls === 'direct',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(user === undefined ? {} : { auth: { user, pass: password } }),
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
    dnsTimeout: mailMs,
    connectionTimeout: mailMs,
    greetingTimeout: mailMs,
    socketTimeout: mailMs,
    maxResponseSize: 64 * 1024,
    allowInternalNetworkInterfaces: true,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  transport.use('stream', ({ message }, done) => {
    message.processFunc(bytes => Readable.from(noted(bytes, handOver), { objectMode: false }))
    done()
  })
  return transport
}

/** Nothing reads this stream before the server has answered DATA. */
async function* noted(bytes: Readable, begin: () => void) {
  begin()
  yield* bytes
}

/** An error of nodemailer. `originalCode` is the code of Node.js, and `response` the words of the server. */
type SmtpError = Error & {
  code?: string
  originalCode?: string
  command?: string
  response?: string
  responseCode?: number
}

function failureOf(error: SmtpError, isHandedOver: boolean): MailResult {
  const failure = isHandedOver && error.responseCode === undefined ? 'unknown' : kindOf(error)
  return { failure, detail: detailOf(error), ...(failure === 'failed' ? { error } : {}) }
}

function kindOf({ code, originalCode = '', command, response = '', responseCode }: SmtpError): MailFailure {
  if (code === 'ETIMEDOUT' || code === 'EABORT') return 'timeout'
  if (code === 'ETLS' || /CERT|SELF_SIGNED|TLS|SSL/.test(originalCode)) return 'not_secure'
  if (code === 'EDNS' || code === 'ESOCKET' || code === 'ECONNECTION') return 'unreachable'
  if (code === 'EAUTH' || code === 'ENOAUTH') return 'sign_in'
  if (responseCode === 530) return 'sign_in'
  if (code === 'EENVELOPE' && command === 'RCPT TO' && isRefusalForGood(response)) return 'address_refused'
  if (code === 'EENVELOPE' || code === 'EMESSAGE' || code === 'EPROTOCOL' || code === 'ESTREAM') return 'refused'
  return 'failed'
}

/** Not a server that asks for a later try (greylisting), and not a rule of the server about senders (5.7.x). */
const isRefusalForGood = (response: string) => /^5\d\d(?![ -]5\.7\.)/.test(response)

const MOST_DETAIL = 200

/**
 * The answer to a login could repeat the password, so only its code is kept. Answers to a mail can repeat addresses and
 * links, and a filter can repeat a part of a link: each word that could be one of them is masked.
 */
function detailOf({ code, originalCode, command, response, message }: SmtpError): string {
  const said = response === undefined ? message : code === 'EAUTH' ? response.slice(0, 3) : response
  const masked = said.split(/\s+/).map(word => (/[@#]|[\w-]{20}/.test(word) ? '…' : word))
  return [originalCode ?? code, command, ...masked].filter(Boolean).join(' ').slice(0, MOST_DETAIL)
}
