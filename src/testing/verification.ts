import { expect } from 'vitest'
import { uuid7Batch } from '../base/uuid7.ts'
import type { Pool } from '../db/sql.ts'
import { addGateway } from '../domain/gateways/gateways.ts'
import { type VerifierChannel, type VerifierSettings, verifierChannels } from '../domain/verifiers/verifier.ts'
import { createVerifier } from '../domain/verifiers/verifiers.ts'
import { eventually } from './eventually.ts'

/** The secret that encrypts the codes of the tests, the same as in `useApp`. */
export const secret = 'a secret of the tests, 32 or longer'

/** Simulated operators for every channel that can send codes. */
export async function codeGateways(sql: Pool, channels: readonly VerifierChannel[] = verifierChannels) {
  for (const channelType of channels)
    await addGateway(sql, {
      name: `sim ${channelType}`,
      channelType,
      connector: 'simulator',
      brands: [],
      settings: { receiptMs: 20 },
      partsPerSecond: null,
    })
}

export const aVerifier = (sql: Pool, companyId: number, settings: Partial<VerifierSettings> = {}) =>
  sql.begin(tx => createVerifier(tx, companyId, 'API', { settings }))

/** The text that the simulated operator got. With a channel, the newest text of that channel. */
export function handedText(sql: Pool, destination: string, channelType = 'SMS'): Promise<string> {
  return eventually(async () => {
    const [row] = await sql<{ text: string }[]>`
      select text from simulator_outbox()
      where destination = ${destination} and channel_type = ${channelType} order by simulator_id desc limit 1`
    expect(row).toBeDefined()
    return row!.text
  })
}

export const codeIn = (text: string): string => /\d{4,8}/.exec(text)![0]

/** A code that is surely wrong. */
export const wrongCode = (code: string): string =>
  String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0')

/**
 * Simulates that this time has passed: moves sends to the past, and lets codes end earlier. The sums are made by a
 * `select`, because Citus refuses them in an `update`.
 */
export async function letPass(sql: Pool, seconds: number) {
  const by = sql`make_interval(secs => ${seconds})`
  const limits = await sql`
    select company_id, subject, (since - ${by})::text as since, (last_at - ${by})::text as last_at,
      (blocked_until - ${by})::text as blocked_until
    from verification_limits`
  for (const { companyId, subject, since, lastAt, blockedUntil } of limits)
    await sql`
      update verification_limits set since = ${since}::text::timestamptz, last_at = ${lastAt}::text::timestamptz,
        blocked_until = ${blockedUntil}::text::timestamptz
      where company_id = ${companyId} and subject = ${subject}`
  const verifications = await sql`
    select company_id, verification_uuid as uuid, (sent_at - ${by})::text as sent_at,
      array(select ends - ${by} from unnest(code_ends) with ordinality e (ends, n) order by n)::text as ends
    from verifications`
  for (const { companyId, uuid, sentAt, ends } of verifications)
    await sql`
      update verifications set sent_at = ${sentAt}::text::timestamptz, code_ends = ${ends}::text::timestamptz[]
      where company_id = ${companyId} and verification_uuid = ${uuid}`
}

/** Simulates that the codes to this prefix were sent ten minutes ago. The key has the time of a verification. */
export async function ageCodesTo(sql: Pool, prefix: string) {
  const codes = await sql`select company_id, verification_uuid as uuid from verifications where prefix = ${prefix}`
  const older = uuid7Batch(new Date(Date.now() - 600_000), codes.length)
  for (const [i, { companyId, uuid }] of codes.entries())
    await sql`
      update verifications set verification_uuid = ${older[i]!}
      where company_id = ${companyId} and verification_uuid = ${uuid}`
}
