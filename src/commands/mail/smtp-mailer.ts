import { createTransport } from 'nodemailer'
import type { Mail, MailFailure, MailResult } from '../../base/mail/mail.ts'
import type { SmtpServer } from '../../base/mail/smtp-server.ts'

export type MailerSettings = {
  server: SmtpServer
  from: string
  /** Certificates to trust instead of the usual ones. */
  ca?: string
  /** The time for each step, and for the whole mail. */
  stepMs?: number
  mailMs?: number
  /** Mails at a time. */
  most?: number
}

const STEP_MS = 5000
/** The request of a person waits for the mail this long. */
const MAIL_MS = 10_000
const MOST_AT_ONCE = 10

/** Sends mails through an SMTP server. Each mail has a connection of its own, and is tried once. */
export class SmtpMailer {
  readonly #settings: Required<Omit<MailerSettings, 'ca'>>
  readonly #transport: ReturnType<typeof transportTo>
  #sending = 0

  constructor(given: MailerSettings) {
    this.#settings = { stepMs: STEP_MS, mailMs: MAIL_MS, most: MOST_AT_ONCE, ...given }
    this.#transport = transportTo(given, this.#settings.stepMs)
  }

  send = async (mail: Mail): Promise<MailResult> => {
    const { from, mailMs, most } = this.#settings
    if (this.#sending >= most) return { failure: 'busy', detail: `${most} mails are being sent` }
    this.#sending++
    try {
      const signal = AbortSignal.timeout(mailMs)
      await this.#transport.sendMail({ ...mail, from, headers: { 'Auto-Submitted': 'auto-generated' }, signal })
      return { failure: null }
    } catch (error) {
      return failureOf(error as SmtpError)
    } finally {
      this.#sending--
    }
  }
}

function transportTo({ server, ca }: MailerSettings, stepMs: number) {
  const { host, port, tls, user, password } = server
  return createTransport({
    host,
    port,
    secure: tls === 'direct',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(user === undefined ? {} : { auth: { user, pass: password } }),
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
    dnsTimeout: stepMs,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    maxResponseSize: 64 * 1024,
    allowInternalNetworkInterfaces: true,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** An error of nodemailer. `originalCode` is the code of Node.js, and `response` the words of the server. */
type SmtpError = Error & { code?: string; originalCode?: string; command?: string; response?: string }

function failureOf(error: SmtpError): MailResult {
  const failure = kindOf(error)
  return { failure, detail: detailOf(error), ...(failure === 'failed' ? { error } : {}) }
}

function kindOf({ code, originalCode = '', command }: SmtpError): MailFailure {
  if (code === 'ETIMEDOUT' || code === 'EABORT') return 'timeout'
  if (code === 'ETLS' || /CERT|SELF_SIGNED|TLS|SSL/.test(originalCode)) return 'not_secure'
  if (code === 'EDNS' || code === 'ESOCKET' || code === 'ECONNECTION') return 'unreachable'
  if (code === 'EAUTH' || code === 'ENOAUTH') return 'sign_in'
  if (code === 'EENVELOPE' && command === 'RCPT TO') return 'address_refused'
  if (code === 'EENVELOPE' || code === 'EMESSAGE' || code === 'EPROTOCOL' || code === 'ESTREAM') return 'refused'
  return 'failed'
}

const MOST_DETAIL = 200

/** The answer to a login could repeat the password, so only its code is kept. Answers to a mail can repeat its parts. */
function detailOf({ code, originalCode, command, response, message }: SmtpError): string {
  const said = response === undefined ? message : code === 'EAUTH' ? response.slice(0, 3) : response
  const words = [originalCode ?? code, command, said].filter(Boolean).join(' ').split(/\s/)
  const isSecret = (word: string) => word.includes('@') || word.includes('#') // an address, or a link
  return words
    .map(word => (isSecret(word) ? '…' : word))
    .join(' ')
    .slice(0, MOST_DETAIL)
}
