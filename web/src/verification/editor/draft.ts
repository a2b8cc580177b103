import {
  type PageSettings,
  type VerifierChannel,
  type VerifierSettings,
  verifierChannels,
  type WidgetLook,
} from '../../../../src/domain/verifiers/verifier.ts'
import type { VerifierForm } from '../../../../src/http/cabinet/verification/verifier-form.ts'
import type { Offer, VerifierDetails } from '../verification.ts'

/** The values that a person edits. The captcha secret is empty until it is typed, because the server never sends it. */
export type Draft = { name: string; settings: VerifierSettings; page: PageSettings | null; captchaSecret: string }

export const draftOf = ({ name, settings, page }: VerifierDetails): Draft => ({
  name,
  settings,
  page,
  captchaSecret: '',
})

/** A new verifier uses every channel that has a sender name, like a verifier that the command line creates. */
export function newDraft(offer: Offer, isWidget: boolean): Draft {
  const channels = offer.channels.filter(channel => offer.defaultSenders[channel] !== undefined)
  const settings = isWidget ? offer.settings : { ...offer.settings, channels }
  return { name: '', settings, page: isWidget ? offer.page : null, captchaSecret: '' }
}

export const usualLook: WidgetLook = { accent: null, accentDark: null, radiusPixels: null, theme: 'auto' }

export const formOf = ({ name, settings, page, captchaSecret }: Draft): VerifierForm => ({
  name: name.trim(),
  settings: { ...settings, senders: sendersIn(settings) },
  ...(page && { page: { ...page, origins: page.origins.map(line => line.trim()).filter(line => line !== '') } }),
  ...(captchaSecret.trim() !== '' && { captchaSecret: captchaSecret.trim() }),
})

/** Keeps the sender names of unused channels, unless they are empty. */
function sendersIn({ senders }: VerifierSettings): VerifierSettings['senders'] {
  const filled: Partial<Record<VerifierChannel, string>> = {}
  for (const channel of verifierChannels) {
    const name = senders[channel]?.trim()
    if (name) filled[channel] = name
  }
  return filled
}

/** The parts of the form. The save bar names the parts with unsaved changes. */
export const parts = ['name', 'look', 'page', 'channels', 'code', 'texts', 'countries', 'phones', 'limits'] as const
export type Part = (typeof parts)[number]

export function changedParts(before: Draft, now: Draft): Part[] {
  return parts.filter(part => JSON.stringify(valuesOf[part](before)) !== JSON.stringify(valuesOf[part](now)))
}

const valuesOf: Record<Part, (draft: Draft) => unknown> = {
  name: ({ name }) => name,
  look: ({ page }) => page?.look ?? usualLook,
  page: ({ page, captchaSecret }) => [page && { ...page, look: undefined }, captchaSecret],
  channels: ({ settings: s }) => [s.channels, s.senders, s.fallbackSeconds],
  code: ({ settings: s }) => [s.codeLength, s.lifetimeSeconds, s.tries, s.pauseSeconds],
  texts: ({ settings: s }) => s.texts,
  countries: ({ settings: s }) => s.countries,
  phones: ({ settings: s }) => [s.webOtpHost, s.androidHash, s.callbackUrl],
  limits: ({ settings: s }) => s.limits,
}

/** The properties of every part of the form. */
export type FormProps = {
  draft: Draft
  change(changed: Partial<Draft>): void
  setting(changed: Partial<VerifierSettings>): void
  /** The mistake of a setting. The key is the name with which the server's message begins. */
  wrong(setting: string): string | undefined
}
