import { expect } from 'vitest'
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
      select text from simulator_messages
      where destination = ${destination} and channel_type = ${channelType} order by simulator_id desc limit 1`
    expect(row).toBeDefined()
    return row!.text
  })
}

export const codeIn = (text: string): string => /\d{4,8}/.exec(text)![0]

/** A code that is surely wrong. */
export const wrongCode = (code: string): string =>
  String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0')

/** Simulates that this time has passed: moves sends to the past, and lets codes end earlier. */
export async function letPass(sql: Pool, seconds: number) {
  const by = sql`make_interval(secs => ${seconds})`
  await sql`
    update verification_limits set since = since - ${by}, last_at = last_at - ${by},
      blocked_until = blocked_until - ${by}`
  await sql`
    update verifications set sent_at = sent_at - ${by},
      code_ends = array(select ends - ${by} from unnest(code_ends) with ordinality e (ends, n) order by n)`
}
