import { UsageError } from '../../base/errors.ts'
import type { Pool } from '../../db/sql.ts'
import { withoutPassword } from '../../domain/callbacks/callback.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import type { Company } from '../../domain/companies/company.ts'
import { inboundChannels, refusalOfUrl } from '../../domain/inbound/rule.ts'
import { addRule, type ListedRule, listRules, removeRule } from '../../domain/inbound/rules.ts'
import { refusalOfCenterName, type TrafficCenter } from '../../domain/traffic-centers/traffic-center.ts'
import {
  defaultCenter,
  ensureCenter,
  listCenters,
  setDefaultCenter,
} from '../../domain/traffic-centers/traffic-centers.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { given, idOption, textOption } from '../command-line.ts'
import { choiceOption, optionalId } from '../options.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

export async function addOne(call: Call) {
  const channelType = given(choiceOption(call, 'channel', inboundChannels), '--channel')
  const callbackUrl = urlOption(call)
  const center = centerOption(call, 'center')
  const senderNames = call.lists.sender ?? []
  await onCompany(call, async (sql, { companyId, inbound }) => {
    const wanted = { channelType, senderNames, callbackUrl, ...(center === undefined ? {} : { center }) }
    const rule = await recorded(sql, async (tx, record) => {
      const added = await addRule(tx, companyId, wanted)
      await record({ what: 'inbound_rule.added', ...ruleSubject(companyId, added.ruleId), after: presentRule(added) })
      return added
    })
    call.print(presentRule(rule), [sentenceAbout(rule), ...(inbound ? [] : [inboundIsOff(companyId)])].join('\n'))
  })
}

function urlOption(call: Call): string {
  const url = textOption(call, 'url')
  const refusal = refusalOfUrl(url)
  if (refusal) throw new UsageError(`--url ${refusal}.`)
  return url
}

function centerOption(call: Call, name: string): string | undefined {
  const center = call.options[name]
  const refusal = center === undefined ? undefined : refusalOfCenterName(center)
  if (refusal) throw new UsageError(`--${name} ${refusal}.`)
  return center
}

export async function listSome(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const rules = await listRules(sql, companyId)
    call.print(rules.map(presentRule), rulesTable(rules))
  })
}

export async function removeOne(call: Call) {
  const ruleId = idOption(call, 'rule')
  await onCompany(call, async (sql, { companyId }) => {
    await recorded(sql, async (tx, record) => {
      const rule = (await listRules(tx, companyId)).find(one => one.ruleId === ruleId)
      await orAdvise(noRule(companyId, ruleId), removeRule(tx, companyId, ruleId))
      await record({ what: 'inbound_rule.removed', ...ruleSubject(companyId, ruleId), before: presentRule(rule!) })
    })
    call.print({ companyId, ruleId }, `Rule ${ruleId} is removed.`)
  })
}

export const listCompanyCenters = (call: Call) =>
  onCompany(call, async (sql, { companyId }) => {
    await defaultCenter(sql, companyId)
    const centers = await listCenters(sql, companyId)
    call.print(centers.map(presentCenter), centersTable(centers))
  })

export async function addCenter(call: Call) {
  const name = given(centerOption(call, 'name'), '--name')
  await onCompany(call, async (sql, { companyId }) => {
    const center = await recorded(sql, async (tx, record) => {
      const isThere = (await listCenters(tx, companyId)).some(center => center.name === name)
      const called = await ensureCenter(tx, companyId, name)
      await record(isThere ? undefined : { what: 'traffic_center.added', ...centerSubject(called) })
      return called
    })
    printCenter(call, center)
  })
}

export async function makeCenterDefault(call: Call) {
  const name = given(centerOption(call, 'name'), '--name')
  await onCompany(call, async (sql, { companyId }) => {
    const center = await recorded(sql, async (tx, record) => {
      const moved = await orAdvise(noCenter(companyId, name), setDefaultCenter(tx, companyId, name))
      await record({ what: 'traffic_center.made_default', ...centerSubject(moved) })
      return moved
    })
    printCenter(call, center)
  })
}

const ruleSubject = (companyId: number, ruleId: number) => ({
  subject: { kind: 'inbound_rule', id: ruleId },
  companyId,
})
const centerSubject = ({ companyId, centerId, name }: TrafficCenter) => ({
  subject: { kind: 'traffic_center', id: centerId, name },
  companyId,
})

async function onCompany(call: Call, work: (sql: Pool, company: Company) => Promise<void>) {
  const companyId = idOption(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    await work(sql, await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId)))
  })
}

const noRule = (companyId: number, ruleId: number) =>
  `Company ${companyId} has no rule ${ruleId}: \`tidings inbound rule list\` shows them.`
const noCenter = (companyId: number, name: string) =>
  `Company ${companyId} has no traffic center "${name}": \`tidings inbound center list\` shows them.`
const inboundIsOff = (companyId: number) =>
  `It waits until the company may be written to: \`tidings company set --company ${companyId} --inbound on\`.`

const sentenceAbout = ({ ruleId, channelType, senderNames, centerName }: ListedRule) =>
  `Rule ${ruleId}: inbound messages of ${channelType} to ${senderNames.join(', ') || 'any name'} belong to ${centerName}.`

/** An address may contain a password, which must not appear on a terminal. */
const presentRule = (rule: ListedRule) => ({
  ruleId: rule.ruleId,
  companyId: rule.companyId,
  channelType: rule.channelType,
  senderNames: rule.senderNames,
  trafficCenterId: rule.centerId,
  trafficCenterName: rule.centerName,
  callbackUrl: shown(rule.callbackUrl),
})

const shown = (url: string | null) => (url === null ? null : withoutPassword(url))

const rulesTable = (rules: ListedRule[]) =>
  table(
    ['ID', 'COMPANY', 'CHANNEL', 'CENTER', 'NAMES', 'URL'],
    rules.map(rule => [
      rule.ruleId,
      rule.companyId,
      rule.channelType,
      rule.centerName,
      rule.senderNames.join(',') || 'any',
      shown(rule.callbackUrl),
    ]),
  )

const printCenter = (call: Call, center: TrafficCenter) =>
  call.print(
    presentCenter(center),
    `${center.name} is ${center.isDefault ? 'the default' : 'a'} traffic center of company ${center.companyId}.`,
  )

const presentCenter = ({ centerId, companyId, name, isDefault }: TrafficCenter) => ({
  trafficCenterId: centerId,
  companyId,
  name,
  isDefault,
})

const centersTable = (centers: TrafficCenter[]) =>
  table(
    ['ID', 'DEFAULT', 'NAME'],
    centers.map(({ centerId, name, isDefault }) => [centerId, isDefault ? 'yes' : 'no', name]),
  )
