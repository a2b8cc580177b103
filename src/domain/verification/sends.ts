import { refusalOfText } from '../../base/content/channel-text.ts'
import type { Substitutions } from '../../base/content/text-template.ts'
import { invalidField } from '../../base/errors.ts'
import type { Once } from '../idempotency/idempotency.ts'
import type { Acceptance, CascadePlan, MessageRequest, SendingMethod, SingleEvent } from '../messages/single.ts'
import { classify, type Numbering } from '../numbering/numbering.ts'
import type { Intake } from '../singles/intake.ts'
import { type CodeBox, drawCode, maskOf } from '../verifications/code-box.ts'
import type { NewCode } from '../verifications/verification.ts'
import { senderFor, type Verifier, type VerifierChannel, type VerifierSettings } from '../verifiers/verifier.ts'
import { canBeMobile, countryOf, prefixOf } from './mobile.ts'
import { codeTextOf, textIn } from './texts.ts'

/** A code that is asked for. */
export type CodeRequest = {
  channelType: VerifierChannel
  destination: string
  method: Extract<SendingMethod, 'VERIFIER_API' | 'VERIFIER_WIDGET'>
  /** The API key that asks for it, if any. */
  keyId?: number | undefined
  language?: string | undefined
  substitutions?: Substitutions | undefined
  clientAddress?: string | undefined
  externalId?: string | undefined
  callbackUrl?: string | undefined
  callbackEvents?: SingleEvent[] | undefined
  /** The verification that gets one more code; without it a new one is made. */
  verificationUuid?: string | undefined
  /** The session of a widget that asks. */
  sessionKeyHash?: Buffer | undefined
}

export type SendContext = { numbering: () => Numbering; intake: Intake; codes: CodeBox }

/**
 * Sends a code for a number. Its text is sealed here, where the code is drawn: nothing behind this point but the engine
 * can read it. The uuid of an accepted one is that of its first message, and of a new verification.
 */
export async function sendCode(
  { codes, intake, numbering }: SendContext,
  verifier: Verifier,
  request: CodeRequest,
  once?: Once,
): Promise<Acceptance> {
  const [answer] = await intake.accept(
    verifier.companyId,
    [messageRequestOf(codes, numbering(), verifier, request)],
    once,
  )
  return answer!
}

const FLASHCALL_DIGITS = 4

function messageRequestOf(
  codes: CodeBox,
  numbering: Numbering,
  verifier: Verifier,
  request: CodeRequest,
): MessageRequest {
  const { settings, verifierId } = verifier
  const number = requireServed(numbering, settings, request)
  const country = countryOf(number)
  const drawn = drawCode(settings.codeLength)
  const steps = channelsOf(settings, request.channelType).map(channel =>
    stepOf(codes, verifier, request, channel, codeFor(channel, drawn), country),
  )
  const code: NewCode = {
    verifierId,
    ...(request.verificationUuid ? { verificationUuid: request.verificationUuid } : {}),
    ...(request.sessionKeyHash ? { sessionKeyHash: request.sessionKeyHash } : {}),
    country,
    prefix: prefixOf(number),
    clientAddress: request.clientAddress ?? null,
    lifetimeSeconds: settings.lifetimeSeconds,
    tries: settings.tries,
    pauseSeconds: settings.pauseSeconds,
    limits: settings.limits,
    hashesFor: uuid => [...new Set(steps.map(({ code }) => code))].map(each => codes.hash(uuid, each)),
  }
  const [first] = steps
  if (steps.length === 1) return { ...first!.request, code }
  return { ...first!.request, code, cascade: { step: 1, plan: planOf(steps, settings) } }
}

/** How many digits a person types for a code of this channel. */
export const codeLengthOf = ({ codeLength }: VerifierSettings, channel: VerifierChannel): number =>
  channel === 'FLASHCALL' ? FLASHCALL_DIGITS : codeLength

/** A flash call shows a code in the last digits of its number: the last ones of the code of the other channels. */
const codeFor = (channel: VerifierChannel, drawn: string) =>
  channel === 'FLASHCALL' ? drawn.slice(-FLASHCALL_DIGITS) : drawn

/** The number, if the verifier sends codes to it over this channel. */
export function requireServed(
  numbering: Numbering,
  settings: VerifierSettings,
  { channelType, destination }: Pick<CodeRequest, 'channelType' | 'destination'>,
) {
  refuseChannel(settings, channelType)
  return requireMobile(numbering, settings, destination)
}

function refuseChannel({ channels }: VerifierSettings, channel: VerifierChannel) {
  if (!channels.includes(channel))
    throw invalidField('channelType', `the verifier sends by ${channels.join(', ')} only`)
}

function requireMobile(numbering: Numbering, { countries }: VerifierSettings, destination: string) {
  const number = classify(numbering, destination)
  if (number.kind === 'refused') throw invalidField('destination', 'is no valid number')
  if (countries.length > 0 && !countries.includes(countryOf(number)))
    throw invalidField('destination', `numbers of ${countryOf(number)} are not served`)
  if (!canBeMobile(number)) throw invalidField('destination', 'is no mobile number')
  return number
}

/** The channel asked for, then those after it in the verifier's order. */
function channelsOf({ channels, fallbackSeconds }: VerifierSettings, first: VerifierChannel): VerifierChannel[] {
  return fallbackSeconds === null ? [first] : channels.slice(channels.indexOf(first))
}

type Step = { code: string; request: MessageRequest }

function stepOf(
  codes: CodeBox,
  { settings, verifierId }: Verifier,
  request: CodeRequest,
  channelType: VerifierChannel,
  code: string,
  country: string,
): Step {
  const template = textIn(settings, request.language)
  const said = codeTextOf(channelType, settings, template, code, request.substitutions)
  const shown = codeTextOf(channelType, settings, template, maskOf(code), request.substitutions)
  if (!said || !shown) throw invalidField('substitutions', 'a placeholder of the text has no value')
  const refusal = refusalOfText(channelType, said.text)
  if (refusal) throw invalidField('substitutions', `the text of ${channelType} ${refusal}`)
  const callbackUrl = request.callbackUrl ?? settings.callbackUrl
  const message: MessageRequest = {
    ...shown,
    channelType,
    senderName: senderFor(settings, channelType)!,
    destination: request.destination,
    trafficType: 'AUTHORIZE',
    externalId: request.externalId ?? null,
    centerId: null,
    method: request.method,
    keyId: request.keyId,
    options: { ttl: ttlOf(settings, channelType), verification: { verifierId, country } },
    callbackUrl,
    callbackEvents: callbackUrl ? (request.callbackEvents ?? ['delivered']) : null,
    sealed: codes.seal(said).toString('hex'),
  }
  return { code, request: message }
}

const LEAST_TTL_SECONDS = 60

/** A code that is no longer good is not to be delivered, nor a code that another channel has taken over. */
function ttlOf({ lifetimeSeconds, fallbackSeconds, channels }: VerifierSettings, channel: VerifierChannel): number {
  const isLast = fallbackSeconds === null || channel === channels.at(-1)
  return Math.max(isLast ? lifetimeSeconds : fallbackSeconds, LEAST_TTL_SECONDS)
}

function planOf(steps: Step[], { fallbackSeconds }: VerifierSettings): CascadePlan {
  return steps.map(({ request }, i) => ({
    request,
    condition: 'not_delivered',
    ttlSeconds: i < steps.length - 1 ? fallbackSeconds : null,
  }))
}
