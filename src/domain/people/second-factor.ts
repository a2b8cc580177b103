import { createHash, randomInt } from 'node:crypto'
import { AppError, invalid, invalidField } from '../../base/errors.ts'
import { type BoxKey, boxKey, open, seal } from '../../base/secret-box.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { countAttempt } from '../partners/login-limits.ts'
import type { Viewer } from './person.ts'
import { completeSession } from './sessions.ts'
import { checkOwnPassword, type SignedIn, uncountFailure } from './sign-in.ts'
import * as store from './store.ts'
import { drawTotpSecret, stepOfCode, totpAddress } from './totp.ts'

const RECOVERY_CODES = 10
const RECOVERY_SIGNS = 'abcdefghjkmnpqrstuvwxyz23456789'
const RECOVERY_LENGTH = 10

/** What a person typed, and from where. */
export type GivenCode = { code: string; address: string }
export type GivenKey = GivenCode & { secret: string; password: string }
type Also = (sql: Transaction) => Promise<unknown>

/** Codes of authenticator applications, and recovery codes for the day the telephone is lost. */
export class SecondFactors {
  readonly #pool: Pool
  readonly #key: BoxKey

  constructor(pool: Pool, secret: string) {
    this.#pool = pool
    this.#key = boxKey(secret, 'second factors')
  }

  /** What the application needs; nothing is kept before a code of it proves that it works. */
  propose(viewer: Viewer): { secret: string; address: string } {
    const secret = drawTotpSecret()
    return { secret, address: totpAddress(secret, viewer.login) }
  }

  /**
   * Switches the second factor on, and returns the recovery codes: they are shown this once. The password is asked
   * again, so that an attacker with the cookie alone cannot lock the person out. `also` runs in the same transaction.
   */
  async switchOn(viewer: Viewer, given: GivenKey, now: Date, also: Also): Promise<string[]> {
    const { secret, code, password, address } = given
    if (!/^[A-Z2-7]{32}$/.test(secret)) throw invalidField('secret', 'is not a proposed secret')
    const step = stepOfCode(secret, code, null, now)
    if (step === undefined) throw invalidField('code', 'is wrong; look at the clock of your telephone')
    await checkOwnPassword(this.#pool, { login: viewer.login, password, address }, now)
    return this.#pool.begin(async sql => {
      const [before] = await store.selectSecondFactor(sql, viewer.personId)
      if (before?.totpSecret) throw invalid('The second factor is on already')
      await store.updateSecondFactor(sql, viewer.personId, seal(this.#key, secret), step)
      await store.deleteSessionsOf(sql, viewer.personId, viewer.sessionHash)
      await also(sql)
      return drawRecoveryCodes(sql, viewer.personId)
    })
  }

  /** `also` runs in the same transaction. */
  async switchOff(viewer: Viewer, given: GivenCode, now: Date, also: Also): Promise<void> {
    await this.#withCode(viewer, given, now, async sql => {
      await store.updateSecondFactor(sql, viewer.personId, null, null)
      await store.deleteRecoveryCodes(sql, viewer.personId)
      await also(sql)
    })
  }

  /** Replaces the remaining recovery codes by new codes. `also` runs in the same transaction. */
  async renewRecoveryCodes(viewer: Viewer, given: GivenCode, now: Date, also: Also): Promise<string[]> {
    return this.#withCode(viewer, given, now, async sql => {
      await store.deleteRecoveryCodes(sql, viewer.personId)
      await also(sql)
      return drawRecoveryCodes(sql, viewer.personId)
    })
  }

  async recoveryCodesLeft(viewer: Viewer): Promise<number> {
    const [row] = await store.countRecoveryCodes(this.#pool, viewer.personId)
    return row!.count
  }

  /** The second half of signing in. */
  async complete(viewer: Viewer, given: GivenCode, now: Date): Promise<SignedIn> {
    const session = await this.#withCode(viewer, given, now, sql => completeSession(sql, viewer, now))
    return { session, needsSecondFactor: false }
  }

  /** Does what a right code allows. Wrong codes are counted as wrong passwords are. */
  async #withCode<T>(
    { personId, login }: Viewer,
    { code, address }: GivenCode,
    now: Date,
    allowed: (sql: Transaction) => Promise<T>,
  ): Promise<T> {
    const counted = await countAttempt(this.#pool, { login, address }, now, async () => false)
    const result = await this.#pool.begin(async sql => {
      await this.#use(sql, personId, code, now)
      return allowed(sql)
    })
    await uncountFailure(this.#pool, counted, personId, address, now)
    return result
  }

  /** A code of the application serves once, and so does a recovery code. */
  async #use(sql: Transaction, personId: number, code: string, now: Date) {
    const [factor] = await store.selectSecondFactor(sql, personId)
    if (!factor?.totpSecret) throw invalid('The second factor is off')
    const step = stepOfCode(open(this.#key, factor.totpSecret), code, factor.totpStep, now)
    if (step !== undefined) return store.updateSecondFactor(sql, personId, factor.totpSecret, step)
    const used = await store.deleteRecoveryCode(sql, personId, hashOf(code))
    if (used.count === 0) throw new AppError('bad_credentials', 'The code is wrong')
  }
}

async function drawRecoveryCodes(sql: Transaction, personId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, drawRecoveryCode)
  await store.insertRecoveryCodes(sql, personId, codes.map(hashOf))
  return codes
}

function drawRecoveryCode(): string {
  const signs = Array.from({ length: RECOVERY_LENGTH }, () => RECOVERY_SIGNS[randomInt(RECOVERY_SIGNS.length)]).join('')
  return `${signs.slice(0, RECOVERY_LENGTH / 2)}-${signs.slice(RECOVERY_LENGTH / 2)}`
}

const hashOf = (code: string) => createHash('sha256').update(code.trim().toLowerCase()).digest()
