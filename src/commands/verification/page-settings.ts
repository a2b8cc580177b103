import { sealCaptchaSecret } from '../../domain/verifiers/captcha-secret.ts'
import { originOf } from '../../domain/verifiers/origin.ts'
import { type CaptchaKind, captchaKinds, type PageSettings } from '../../domain/verifiers/verifier.ts'
import type { VerifierOptions } from '../../domain/verifiers/verifiers.ts'
import type { Call } from '../command.ts'
import { choiceOption } from '../options.ts'
import { secretText } from './secret-text.ts'
import { listOption } from './settings.ts'

/** What the options say about the page of a widget, before the settings that there are now are known. */
export type PageOptions = { page: Partial<PageSettings>; captchaSecret: string | undefined }

/** Read before the database is opened: a secret may come from standard input. */
export async function pageOptionsOf(call: Call): Promise<PageOptions> {
  const origins = listOption(call, 'origins')?.map(originOf)
  const captcha = choiceOption(call, 'captcha', captchaKinds)
  const captchaSiteKey = call.options['captcha-site-key']
  const builder = choiceOption(call, 'builder', ['on', 'off'])
  const secret = call.options['captcha-secret']
  return {
    page: {
      ...(origins && { origins: [...new Set(origins)] }),
      ...(captcha && { captcha }),
      ...(captchaSiteKey !== undefined && { captchaSiteKey }),
      ...(builder && { isBuilder: builder === 'on' }),
    },
    captchaSecret: secret === undefined ? undefined : await secretText(secret, 'captcha-secret'),
  }
}

export const isEmpty = ({ page, captchaSecret }: PageOptions) =>
  Object.keys(page).length === 0 && captchaSecret === undefined

/** The change to a widget's page. The keys of one captcha are of no use to another. */
export function pageChange(
  { page, captchaSecret }: PageOptions,
  secretOfService: string,
  before?: CaptchaKind,
): Pick<VerifierOptions, 'page' | 'captchaSecret'> {
  const forgotten = page.captcha !== undefined && page.captcha !== before
  return {
    page: { ...(forgotten && { captchaSiteKey: null }), ...page },
    ...(forgotten && { captchaSecret: null }),
    ...(captchaSecret !== undefined && { captchaSecret: sealCaptchaSecret(secretOfService, captchaSecret) }),
  }
}
