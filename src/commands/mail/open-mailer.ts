import type { SendMail } from '../../base/mail/mail.ts'
import type { Config } from '../../config.ts'

/** Undefined without a mail server. nodemailer is loaded only where there is one. */
export async function openMailer({ smtp, mailFrom }: Config): Promise<SendMail | undefined> {
  if (smtp === undefined) return
  const { SmtpMailer } = await import('./smtp-mailer.ts')
  return new SmtpMailer({ server: smtp, from: mailFrom! }).send
}
