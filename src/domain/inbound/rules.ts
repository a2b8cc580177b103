import { invalid, invalidField, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { sendersByNames } from '../senders/senders.ts'
import { defaultCenter, ensureCenter } from '../traffic-centers/traffic-centers.ts'
import { type InboundChannel, MOST_NAMES, MOST_RULES, refusalOfUrl } from './rule.ts'
import type { ListedRule } from './store.ts'
import * as store from './store.ts'

export { type ListedRule, listRules } from './store.ts'

export type NewRule = {
  channelType: InboundChannel
  /** Empty: all names of the channel. */
  senderNames: string[]
  callbackUrl: string
  /** The name of a traffic center, which is created if it is new. Without a name: the current default center. */
  center?: string
}

/** Adds a rule, which is used from the next inbound message on. */
export const addRule = (pool: Pool, companyId: number, rule: NewRule): Promise<ListedRule> =>
  pool.begin(sql => addRuleWithin(sql, companyId, rule))

/** Adds a rule in a transaction of the caller. */
export async function addRuleWithin(sql: Transaction, companyId: number, rule: NewRule): Promise<ListedRule> {
  await requireAnyCompany(sql, companyId)
  await refuseTooMany(sql, companyId)
  refuseBadUrl(rule.callbackUrl)
  const senderNames = [...new Set(rule.senderNames)]
  await refuseForeignNames(sql, companyId, rule.channelType, senderNames)
  const { center, ...wanted } = rule
  const { centerId, name } = await (center === undefined
    ? defaultCenter(sql, companyId)
    : ensureCenter(sql, companyId, center))
  const added = { ...wanted, companyId, senderNames, centerId }
  const [written] = await store.insertRule(sql, added)
  return { ...added, ruleId: written!.ruleId, centerName: name }
}

async function refuseTooMany(sql: Sql, companyId: number) {
  const [count] = await store.countRules(sql, companyId)
  if (count!.rules >= MOST_RULES) throw invalid(`A company has at most ${MOST_RULES} rules`)
}

function refuseBadUrl(url: string) {
  const refusal = refusalOfUrl(url)
  if (refusal) throw invalidField('callbackUrl', refusal)
}

/** Locks the rule until the transaction ends. */
export async function requireRuleForUpdate(sql: Transaction, companyId: number, ruleId: number): Promise<ListedRule> {
  const [rule] = await store.selectRuleForUpdate(sql, companyId, ruleId)
  if (!rule) throw notFound('Rule')
  return rule
}

/** Changes the given fields of a rule. The rule keeps its age, and so its place in the order. */
export async function changeRule(
  sql: Transaction,
  rule: ListedRule,
  change: Partial<Pick<NewRule, 'senderNames' | 'callbackUrl' | 'center'>>,
): Promise<ListedRule> {
  const { companyId, channelType } = rule
  const senderNames = [...new Set(change.senderNames ?? rule.senderNames)]
  if (change.senderNames) await refuseForeignNames(sql, companyId, channelType, senderNames)
  if (change.callbackUrl !== undefined) refuseBadUrl(change.callbackUrl)
  const center = change.center === undefined ? undefined : await ensureCenter(sql, companyId, change.center)
  const changed = {
    ...rule,
    senderNames,
    callbackUrl: change.callbackUrl ?? rule.callbackUrl,
    centerId: center?.centerId ?? rule.centerId,
    centerName: center?.name ?? rule.centerName,
  }
  await store.updateRule(sql, changed)
  return changed
}

/**
 * Refuses names that the company does not have: a misspelt name would never match. A name may still be under review.
 */
async function refuseForeignNames(sql: Transaction, companyId: number, channelType: string, names: string[]) {
  if (names.length > MOST_NAMES) throw invalidField('senderNames', `at most ${MOST_NAMES}`)
  const known = (await sendersByNames(sql, companyId, names)).filter(sender => sender.channelType === channelType)
  const foreign = names.find(name => !known.some(({ senderName }) => senderName === name))
  if (foreign !== undefined) throw invalid(`The company has no sender name "${foreign}" for ${channelType}`)
}

export async function removeRule(sql: Sql, companyId: number, ruleId: number): Promise<void> {
  if ((await store.deleteRule(sql, companyId, ruleId)).count === 0) throw notFound('Rule')
}
