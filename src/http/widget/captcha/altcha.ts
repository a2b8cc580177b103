import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { type BoxKey, boxKey } from '../../../base/secret-box.ts'

/**
 * A proof of work in the format of ALTCHA, version 1: the server hashes a salt and a secret number, the browser tries
 * the numbers from 0 until it finds the one with this hash. The signature shows that the challenge is ours, so the server
 * does not store it. The caller stores the hashes of used challenges, because each may be used once.
 */
export type Challenge = {
  algorithm: 'SHA-256'
  /** The hash, in hexadecimal digits, of the salt followed by the number. */
  challenge: string
  maxNumber: number
  salt: string
  signature: string
}

/** The use that the caller records, so that a challenge passes once. It may delete the hash after `expiresAt`. */
export type ChallengeUse = { hash: Buffer; expiresAt: Date }

export type ChallengeResult = { kind: 'passed'; use: ChallengeUse } | { kind: 'failed'; reason: string }

type Solution = { algorithm: string; challenge: string; number: number; salt: string; signature: string }

const ALGORITHM = 'SHA-256'

/**
 * A browser tries half of these numbers on average. Plain JavaScript on one core of a server computed 160,000 such hashes
 * a second (measured with Node.js 24): 0.16 seconds. A phone that is five times slower needs 0.8 seconds.
 */
export const MAX_NUMBER = 50_000

const GOOD_FOR_SECONDS = 600
const SALT_BYTES = 12
const MOST_PAYLOAD_CHARS = 4096

export class Challenges {
  readonly #key: BoxKey

  constructor(secret: string) {
    this.#key = boxKey(secret, 'captcha challenges')
  }

  make(widgetId: string, now: Date): Challenge {
    const salt = saltFor(widgetId, now)
    const challenge = hashOf(salt, randomInt(MAX_NUMBER + 1))
    return { algorithm: ALGORITHM, challenge, maxNumber: MAX_NUMBER, salt, signature: this.#sign(challenge) }
  }

  /** The salt counts only after the signature and the hash are verified. */
  judge(widgetId: string, payload: string, now: Date): ChallengeResult {
    const solution = readSolution(payload)
    if (typeof solution === 'string') return failed(solution)
    const terms = readSalt(solution.salt)
    const wrong =
      wrongAlgorithm(solution) ??
      this.#wrongSignature(solution) ??
      wrongNumber(solution) ??
      wrongTerms(terms, widgetId, now)
    if (wrong !== undefined) return failed(wrong)
    return { kind: 'passed', use: { hash: Buffer.from(solution.challenge, 'hex'), expiresAt: terms!.expiresAt } }
  }

  #wrongSignature({ challenge, signature }: Solution): string | undefined {
    const isOurs = isSameText(signature, this.#sign(challenge))
    return isOurs ? undefined : 'The signature of the challenge is wrong: this service did not make the challenge.'
  }

  #sign(challenge: string): string {
    return createHmac('sha256', this.#key).update(challenge).digest('hex')
  }
}

/** The last `&` keeps digits from moving between the salt and the number. */
function saltFor(widgetId: string, now: Date): string {
  const expires = Math.floor(now.getTime() / 1000) + GOOD_FOR_SECONDS
  return `${randomBytes(SALT_BYTES).toString('hex')}?expires=${expires}&widget=${encodeURIComponent(widgetId)}&`
}

const SALT = /^[0-9a-f]{24}\?expires=(\d{1,12})&widget=([^&]*)&$/

type Terms = { expiresAt: Date; widget: string }

function readSalt(salt: string): Terms | undefined {
  const [, expires, widget] = SALT.exec(salt) ?? []
  if (expires === undefined || widget === undefined) return undefined
  return { expiresAt: new Date(Number(expires) * 1000), widget }
}

/** The solution that the browser sent, or the reason why it cannot be parsed. */
function readSolution(payload: string): Solution | string {
  if (payload.length > MOST_PAYLOAD_CHARS) return `The solution is longer than ${MOST_PAYLOAD_CHARS} characters.`
  if (!isBase64(payload)) return 'The solution is not Base64.'
  const solution = parseJson(Buffer.from(payload, 'base64').toString('utf8'))
  if (solution === undefined) return 'The solution is not JSON.'
  return isSolution(solution)
    ? solution
    : 'The solution must have the texts algorithm, challenge, salt and signature and the whole number number.'
}

const isBase64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isSolution(value: unknown): value is Solution {
  if (typeof value !== 'object' || value === null) return false
  const { number, ...texts } = value as Record<string, unknown>
  const areTexts = ['algorithm', 'challenge', 'salt', 'signature'].every(name => typeof texts[name] === 'string')
  return areTexts && Number.isSafeInteger(number) && (number as number) >= 0
}

const wrongAlgorithm = ({ algorithm }: Solution) =>
  algorithm === ALGORITHM ? undefined : `The algorithm of the solution is not ${ALGORITHM}.`

const wrongNumber = ({ challenge, salt, number }: Solution) =>
  isSameText(challenge, hashOf(salt, number))
    ? undefined
    : 'The number does not solve the challenge, or its salt was changed.'

function wrongTerms(terms: Terms | undefined, widgetId: string, now: Date): string | undefined {
  if (!terms) return 'The salt of the solution is not of the form that this service makes.'
  if (terms.widget !== encodeURIComponent(widgetId)) return 'The challenge was made for another widget.'
  if (terms.expiresAt <= now) return `The challenge has expired: it is good for ${GOOD_FOR_SECONDS / 60} minutes.`
}

const hashOf = (salt: string, number: number) => createHash('sha256').update(`${salt}${number}`).digest('hex')

/** Compares in constant time. */
function isSameText(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}

const failed = (reason: string): ChallengeResult => ({ kind: 'failed', reason })
