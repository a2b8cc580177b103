import Type from 'typebox'
import { invalid } from '../../../base/errors.ts'
import { sealCaptchaSecret } from '../../../domain/verifiers/captcha-secret.ts'
import { originOf } from '../../../domain/verifiers/origin.ts'
import {
  captchaKinds,
  type PageSettings,
  type Verifier,
  type VerifierKind,
  type VerifierSettings,
  verifierChannels,
  widgetThemes,
} from '../../../domain/verifiers/verifier.ts'
import type { VerifierOptions } from '../../../domain/verifiers/verifiers.ts'
import { Nullable, OneOf } from '../../schemas.ts'

/** Unknown fields are refused, because the settings of a form are stored unchanged. */
const closed = { additionalProperties: false }
const Short = Type.String({ maxLength: 500 })
const SenderName = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }))
const Settings = Type.Unsafe<VerifierSettings>(
  Type.Object(
    {
      channels: Type.Array(OneOf(verifierChannels), { maxItems: 20 }),
      senders: Type.Object(Object.fromEntries(verifierChannels.map(channel => [channel, SenderName])), closed),
      fallbackSeconds: Nullable(Type.Number()),
      codeLength: Type.Number(),
      lifetimeSeconds: Type.Number(),
      tries: Type.Number(),
      pauseSeconds: Type.Number(),
      texts: Type.Unsafe({
        type: 'object',
        maxProperties: 50,
        additionalProperties: { type: 'string', maxLength: 2000 },
      }),
      countries: Type.Array(Type.String({ maxLength: 10 }), { maxItems: 300 }),
      webOtpHost: Nullable(Short),
      androidHash: Nullable(Short),
      callbackUrl: Nullable(Type.String({ maxLength: 2000 })),
      limits: Type.Object(
        {
          perNumber: Type.Number(),
          perAddress: Type.Number(),
          perPrefix: Type.Number(),
          perVerifier: Type.Number(),
          perCompany: Type.Number(),
          leastConfirmed: Type.Number(),
        },
        closed,
      ),
    },
    closed,
  ),
)
const PageForm = Type.Unsafe<PageSettings>(
  Type.Object(
    {
      origins: Type.Array(Short, { maxItems: 200 }),
      captcha: OneOf(captchaKinds),
      captchaSiteKey: Nullable(Short),
      isBuilder: Type.Boolean(),
      look: Type.Optional(
        Type.Object(
          {
            accent: Nullable(Short),
            accentDark: Nullable(Short),
            radiusPixels: Nullable(Type.Number()),
            theme: OneOf(widgetThemes),
          },
          closed,
        ),
      ),
    },
    closed,
  ),
)
export const Form = Type.Object({
  name: Type.String({ maxLength: 500 }),
  settings: Settings,
  page: Type.Optional(PageForm),
  /** Undefined keeps the stored secret. */
  captchaSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, pattern: '^[^\\r\\n]+$' })),
})
export const Change = Type.Object({ ...Form.properties, version: Type.String({ maxLength: 64 }) })

export type VerifierForm = Type.Static<typeof Form>
export type VerifierChange = Type.Static<typeof Change>

/** Forgets the stored keys when the captcha changes, because another captcha needs other keys. */
export function optionsOf(kind: VerifierKind, form: VerifierForm, secret: string, before?: Verifier): VerifierOptions {
  const { name, settings } = form
  if (kind === 'API') return { name, settings }
  if (!form.page) throw invalid('page: is required')
  const page = { ...form.page, origins: [...new Set(form.page.origins.map(originOf))] }
  const isForgotten = page.captcha !== before?.page?.captcha
  return {
    name,
    settings,
    page,
    ...(isForgotten && { captchaSecret: null }),
    ...(form.captchaSecret !== undefined && { captchaSecret: sealCaptchaSecret(secret, form.captchaSecret) }),
  }
}
