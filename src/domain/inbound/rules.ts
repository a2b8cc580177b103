import { invalid, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { sendersCalled } from '../senders/senders.ts'
import { centerCalled, defaultCenter } from '../traffic-centers/traffic-centers.ts'
import { type InboundChannel, MOST_NAMES, refusalOfUrl } from './rule.ts'
import type { ListedRule } from './store.ts'
import * as store from './store.ts'

export type { ListedRule } from './store.ts'

export type NewRule = {
  channelType: InboundChannel
  /** None for all names of the channel. */
  senderNames: string[]
  callbackUrl: string
  /** The name of a traffic center, made if it is new; else it is the one that is the default now. */
  center?: string
}

/** It holds for what comes in from now on, at once. */
export function addRule(pool: Pool, companyId: number, rule: NewRule): Promise<ListedRule> {
  return pool.begin(async sql => {
    await requireAnyCompany(sql, companyId)
    const refusal = refusalOfUrl(rule.callbackUrl)
    if (refusal) throw invalid(`callbackUrl: ${refusal}`)
    const senderNames = [...new Set(rule.senderNames)]
    await refuseForeignNames(sql, companyId, rule.channelType, senderNames)
    const { center, ...wanted } = rule
    const { centerId, name } = await (center === undefined
      ? defaultCenter(sql, companyId)
      : centerCalled(sql, companyId, center))
    const added = { ...wanted, companyId, senderNames, centerId }
    const [written] = await store.insertRule(sql, added)
    return { ...added, ruleId: written!.ruleId, centerName: name }
  }) as Promise<ListedRule>
}

/** A name that is misspelt would never be written to, and nobody would notice. It may still be under review. */
async function refuseForeignNames(sql: Transaction, companyId: number, channelType: string, names: string[]) {
  if (names.length > MOST_NAMES) throw invalid(`senderNames: at most ${MOST_NAMES}`)
  const known = (await sendersCalled(sql, companyId, names)).filter(sender => sender.channelType === channelType)
  const foreign = names.find(name => !known.some(({ senderName }) => senderName === name))
  if (foreign !== undefined) throw invalid(`The company has no sender name "${foreign}" for ${channelType}`)
}

export const listRules = (sql: Sql, companyId?: number): Promise<ListedRule[]> =>
  store.selectListedRules(sql, companyId)

export async function removeRule(sql: Sql, companyId: number, ruleId: number): Promise<void> {
  if ((await store.deleteRule(sql, companyId, ruleId)).count === 0) throw notFound('Rule')
}
