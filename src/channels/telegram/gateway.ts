import { LRUCache } from 'lru-cache'
import { readId } from '../../base/content/plain-words.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { CallingChannel, type Sent, underOwnId } from '../calling-channel.ts'
import { type Feed, type Outgoing, timeOf } from '../channel.ts'
import { type CallResult, call, objectIn, objectOf, retryAfterMs } from '../http-call.ts'
import { createLimits } from '../limits.ts'
import type { RawSettings } from '../settings.ts'
import { type Answered, foreign, inTrouble, limited, misconfigured, quoted, refused, unanswered } from './answers.ts'
import { type GatewaySettings, LEAST_TTL_SECONDS, MOST_TTL_SECONDS, readGatewaySettings } from './settings.ts'

/** The errors of the Gateway API. Other errors mean that the channel refuses the message. */
const noAccount = /^PHONE_NUMBER_(INVALID|NOT_FOUND|NOT_AVAILABLE)$/
const badContent = /^CODE_/
/** Errors of our account or of the settings: every message would get the same answer. */
const ours = /^(ACCESS_TOKEN_|BALANCE_NOT_ENOUGH|SENDER_|CALLBACK_URL_|UNKNOWN_METHOD)/
const floodWait = /FLOOD_WAIT(?:_(\d+))?/

/**
 * The Gateway API of Telegram: it sends verification codes to a phone number, without a bot. Only the code is ours; the
 * text is Telegram's. Before a code of a verification the channel checks whether Telegram reaches the number. The fee of
 * the check includes the code, which is sent under the same request. Receipts go to `callbackUrl`: see `webhook.ts`.
 */
export function createTelegramGateway(raw: RawSettings, feed: Feed): CallingChannel {
  const settings = readGatewaySettings(raw)
  const limits = createLimits()
  const abilities = createAbilities()

  async function send(message: Outgoing): Promise<Sent> {
    const code = codeOf(message, settings.codeLength)
    if (!code)
      return { kind: 'refused', errorCode: errorCodes.telegramContent, reason: 'the text has not one code in it' }
    const able = isChecked(message) ? await check(message) : NOT_CHECKED
    if (able.kind !== 'able') return able
    const request = requestOf(message, code, able, settings, timeOf(feed))
    const sent = read(await post('sendVerificationMessage', request), message)
    if (!isPutOff(sent)) abilities.forget(message)
    return underOwnId(sent, message)
  }

  /** Only codes of verifiers are checked: they can use another channel. */
  const isChecked = ({ channelType }: Outgoing) => settings.abilityCheck && channelType === 'TELEGRAM_GATEWAY'

  /** A number that Telegram does not reach is refused without a fee, so that the next channel can be tried at once. */
  async function check(message: Outgoing): Promise<Able | Sent> {
    const known = abilities.of(message)
    if (known) return { kind: 'able', requestId: known }
    const checked = read(await post('checkSendAbility', { phone_number: `+${message.destination}` }), message)
    if (checked.kind !== 'accepted') return notHandedOver(checked)
    const [requestId] = checked.providerIds ?? []
    if (requestId === undefined) throw new Error('an accepted check has no request id')
    abilities.note(message, requestId)
    return { kind: 'able', requestId }
  }

  const post = (method: string, body: object) =>
    call({
      url: `${settings.baseUrl}/${method}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${settings.token}` },
      body: JSON.stringify(body),
      timeoutMs: settings.timeoutMs,
    })

  function read(called: CallResult, { destination }: Outgoing): Sent {
    if (called.kind !== 'answered') return unanswered(called)
    const now = new Date()
    const trouble = inTrouble(called, now)
    if (trouble) return trouble
    const { ok, error, result } = objectOf(called.body)
    const flood = typeof error === 'string' ? floodWait.exec(error) : null
    if (flood || called.status === 429) return limited(limits, destination, askedWaitMs(called, flood?.[1], now))
    limits.passed()
    if (ok === true) return taken(result) ?? foreign(called)
    if (ok === false && typeof error === 'string') return refusedAs(error, settings.token)
    if (called.status === 401) return misconfigured('Telegram does not know the token (401)')
    return foreign(called)
  }

  return new CallingChannel({
    window: settings.window,
    send,
    unanswered: (message, reason) => underOwnId({ kind: 'unknown', reason }, message),
  })
}

function refusedAs(error: string, token: string): Sent {
  const words = quoted(error, [token])
  if (ours.test(error)) return misconfigured(`Telegram: ${words}`)
  if (noAccount.test(error)) return refused(errorCodes.noTelegramAccount, words)
  if (badContent.test(error)) return refused(errorCodes.telegramContent, words)
  if (error === 'MESSAGE_ALREADY_SENT') return { kind: 'unknown', reason: `Telegram: ${words}` }
  return refused(errorCodes.refusedByChannel, words)
}

/** The request id of a successful check, which the code uses too; absent if the number was not checked. */
type Able = { kind: 'able'; requestId?: string }

const NOT_CHECKED: Able = { kind: 'able' }
const CHECK_RETRY_MS = 5000

/** A check sends no code: without a clear answer it is repeated. */
const notHandedOver = (checked: Sent): Sent =>
  checked.kind === 'unknown' ? { kind: 'busy', reason: checked.reason, retryAfterMs: CHECK_RETRY_MS } : checked

const isPutOff = ({ kind }: Sent) => kind === 'busy' || kind === 'throttled' || kind === 'not called'

const MOST_ABILITIES = 10_000

/**
 * The request ids of successful checks whose codes are delayed. A code that is sent later under the same request costs no
 * second fee. Beyond the bound the oldest request is forgotten, and its number is checked again.
 */
function createAbilities() {
  const requests = new LRUCache<string, string>({ max: MOST_ABILITIES })
  const keyOf = ({ companyId, uuid }: Outgoing) => `${companyId}/${uuid}`
  return {
    of: (message: Outgoing) => requests.get(keyOf(message)),
    note(message: Outgoing, requestId: string) {
      requests.set(keyOf(message), requestId)
    },
    forget: (message: Outgoing) => requests.delete(keyOf(message)),
  }
}

/** The only group of 4 to 8 digits in the text, or of `codeLength` digits. */
function codeOf({ text, content }: Outgoing, length: number | undefined): string | undefined {
  const shown = content?.contentType === 'authentication' ? content.code : text
  const runs = (shown.match(/\d+/g) ?? []).filter(({ length: digits }) =>
    length === undefined ? digits >= 4 && digits <= 8 : digits === length,
  )
  const codes = new Set(runs)
  return codes.size === 1 ? runs[0] : undefined
}

function requestOf(message: Outgoing, code: string, { requestId }: Able, settings: GatewaySettings, now: Date) {
  const ttl = ttlSecondsOf(message, settings, now)
  return {
    phone_number: `+${message.destination}`,
    ...(requestId === undefined ? {} : { request_id: requestId }),
    code,
    payload: message.uuid,
    ...(ttl === undefined ? {} : { ttl }),
    ...(settings.callbackUrl === undefined ? {} : { callback_url: settings.callbackUrl }),
    ...(settings.senderUsername === undefined ? {} : { sender_username: settings.senderUsername }),
  }
}

function ttlSecondsOf({ expiresAt }: Outgoing, { ttlSeconds }: GatewaySettings, now: Date): number | undefined {
  if (!expiresAt) return ttlSeconds
  const seconds = Math.floor((expiresAt.getTime() - now.getTime()) / 1000)
  return Math.min(Math.max(seconds, LEAST_TTL_SECONDS), MOST_TTL_SECONDS)
}

function taken(result: unknown): Sent | undefined {
  const requestId = objectIn(result).request_id
  const providerId = typeof requestId === 'string' ? readId(requestId) : undefined
  return providerId ? { kind: 'accepted', providerIds: [providerId] } : undefined
}

const askedWaitMs = ({ headers }: Answered, seconds: string | undefined, now: Date) =>
  seconds === undefined ? retryAfterMs(headers, now) : Number(seconds) * 1000
