import { HIDDEN } from '../audit-log/entry.ts'
import { withoutPassword } from '../callbacks/callback.ts'
import type { Verifier } from '../verifiers/verifier.ts'

/** As the audit log names a verifier or widget. */
export const subjectOf = ({ companyId, verifierId, name, kind }: Verifier) => ({
  subject: { kind: kind === 'API' ? 'verifier' : 'widget', id: verifierId, name },
  companyId,
})

/** What the audit log compares with the `other` side of a change. Another secret of the captcha is told, not shown. */
export const fieldsOf = ({ name, settings, page, captchaSecret }: Verifier, other?: Verifier) => ({
  name,
  ...settings,
  callbackUrl: settings.callbackUrl && withoutPassword(settings.callbackUrl),
  ...page,
  ...(other && !isSame(captchaSecret, other.captchaSecret) ? { captchaSecret: HIDDEN } : {}),
})

const isSame = (a: Buffer | null, b: Buffer | null) => (a && b ? a.equals(b) : a === b)
