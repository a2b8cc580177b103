/** A mail to one address. The text and the HTML say the same. */
export type Mail = { to: string; subject: string; text: string; html: string }

export const mailFailures = [
  'no_address', // the login is a plain name
  'too_many', // a limit of an hour is reached: of the address, the person, the company or the partner
  'busy', // this process sends as many mails as it may at a time
  'unreachable', // no connection to the mail server, or the server closed it before it got the mail
  'timeout', // the mail server was silent before it got the mail
  'unknown', // the mail server got the mail, or a part of it, and did not confirm it
  'not_secure', // the server has no TLS, or a certificate that is not valid
  'sign_in', // the server refused the user or the password, or wants them
  'address_refused', // the server refused the recipient for good
  'refused', // the server refused the mail, for good or for now
  'failed', // a bug of the service
] as const
export type MailFailure = (typeof mailFailures)[number]

/** `detail` is for the log: it has no password and no address. */
export type MailResult = { failure: null } | { failure: MailFailure; detail: string; error?: unknown }

/** Sends one mail. A failure of the mail server is a result, not an exception. */
export type SendMail = (mail: Mail) => Promise<MailResult>
