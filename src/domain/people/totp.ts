import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Codes of authenticator applications: RFC 6238 with SHA-1, six digits and steps of 30 seconds, which all of them know. */

const STEP_SECONDS = 30
const DIGITS = 6
const SECRET_BYTES = 20
/** Clocks differ: the step before and the one after are taken too. */
const STEPS_AROUND = 1
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export const drawTotpSecret = (): string => base32(randomBytes(SECRET_BYTES))

/** The step of a code, if it is later than the last used step: each code works once. */
export function stepOfCode(secret: string, code: string, lastStep: number | null, now: Date): number | undefined {
  const current = Math.floor(now.getTime() / 1000 / STEP_SECONDS)
  for (let step = current - STEPS_AROUND; step <= current + STEPS_AROUND; step++)
    if (step > (lastStep ?? -1) && isCode(code, codeOf(secret, step))) return step
}

export const codeAt = (secret: string, now: Date): string =>
  codeOf(secret, Math.floor(now.getTime() / 1000 / STEP_SECONDS))

function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const at = mac.at(-1)! & 0xf
  return String((mac.readUInt32BE(at) & 0x7fff_ffff) % 10 ** DIGITS).padStart(DIGITS, '0')
}

const isCode = (given: string, right: string) =>
  /^[0-9]{6}$/.test(given) && timingSafeEqual(Buffer.from(given), Buffer.from(right))

/** What an authenticator application reads from a QR code. */
export const totpAddress = (secret: string, login: string): string =>
  `otpauth://totp/Tidings:${encodeURIComponent(login)}?secret=${secret}&issuer=Tidings`

function base32(bytes: Buffer): string {
  const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map(five => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map(letter => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
}
