import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { type ChannelType, channelTypes } from '../../../base/channel-types.ts'
import { changedMeanwhile, invalid, notFound } from '../../../base/errors.ts'
import { normaliseNumber } from '../../../base/phone/phone-number.ts'
import type { Sql } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { blacklistedAmong } from '../../../domain/blacklist/blacklist.ts'
import { withoutPassword } from '../../../domain/callbacks/callback.ts'
import { type RejectionCause, tryInbound } from '../../../domain/inbound/inbound.ts'
import {
  everyInbound,
  type InboundPage,
  type ShownInbound,
  searchInbound,
} from '../../../domain/inbound/inbound-search.ts'
import { type InboundChannel, inboundChannels, inOrder, type RuleMatch } from '../../../domain/inbound/rule.ts'
import {
  addRuleWithin,
  changeRule,
  type ListedRule,
  listRules,
  removeRule,
  requireRuleForUpdate,
} from '../../../domain/inbound/rules.ts'
import type { Language } from '../../../domain/people/person.ts'
import { listSenders } from '../../../domain/senders/senders.ts'
import { CENTER_NAME_LENGTH, type TrafficCenter } from '../../../domain/traffic-centers/traffic-center.ts'
import {
  defaultCenter,
  ensureCenter,
  listCenters,
  lockCenters,
  setDefaultCenterWithin,
} from '../../../domain/traffic-centers/traffic-centers.ts'
import { DateTime, Defaulted, Id, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { csvOf, csvStyles } from '../reports/csv.ts'
import { FileSender } from '../reports/file-sender.ts'
import { clockIn } from '../reports/report.ts'
import { ofReader, refuseUnknownZone, reportWordsOf } from '../reports/report-words.ts'
import { searchPeriod } from './search-period.ts'

const REPORTS_OF_PERSON = 1

const filters = {
  companyId: Type.Optional(Id),
  q: Defaulted(Type.String({ maxLength: 200, default: '' })),
  center: Type.Optional(Id),
  from: Type.Optional(DateTime),
  to: Type.Optional(DateTime),
}
const Filter = Type.Object(filters)
const Report = Type.Object({ ...filters, ...ofReader })
const List = Type.Object({
  ...filters,
  before: Type.Optional(Type.String({ format: 'uuid' })),
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})
const Name = Type.String({ minLength: 1, maxLength: 100 })
const Names = Type.Array(Name, { maxItems: 100 })
const Center = Type.String({ minLength: 1, maxLength: CENTER_NAME_LENGTH })
const Url = Type.String({ minLength: 1, maxLength: 2048 })
const NewRule = Type.Object({
  channelType: OneOf(inboundChannels),
  senderNames: Names,
  center: Center,
  callbackUrl: Url,
})
const RuleChange = Type.Object({
  /** The rule that the person saw. If another person changed it meanwhile, the change is refused. */
  seen: Type.Object({ senderNames: Names, centerId: Id, callbackUrl: Type.String({ maxLength: 2100 }) }),
  senderNames: Type.Optional(Names),
  center: Type.Optional(Center),
  callbackUrl: Type.Optional(Url),
})
const ByRule = Type.Object({ ruleId: Id })
const NewCenter = Type.Object({ name: Center })
const NewDefault = Type.Object({ centerId: Id, seen: Id })
const Trial = Type.Object({
  companyId: Type.Optional(Id),
  channel: OneOf(channelTypes),
  name: Name,
  from: Defaulted(Type.String({ maxLength: 64, default: '' })),
  text: Defaulted(Type.String({ maxLength: 1000, default: '' })),
})

/** Types of requests and answers, which the pages import. */
export type InboundMessageRow = ReturnType<typeof present> & { isBlacklisted: boolean }
export type InboundAnswer = Omit<InboundPage, 'items'> & {
  items: InboundMessageRow[]
  /** True if the service stores messages to this company. Staff switch it on. */
  isOn: boolean
  /** The choices of the filter. */
  centers: CenterRow[]
}
export type NewInboundRule = Type.Static<typeof NewRule>
export type InboundRuleChange = Type.Static<typeof RuleChange>
export type InboundRuleRow = ReturnType<typeof presentRule>
export type CenterRow = { centerId: number; name: string; isDefault: boolean }
export type RulesAnswer = {
  isOn: boolean
  /** In the order in which the service applies them. */
  rules: InboundRuleRow[]
  centers: CenterRow[]
  /** Names of the company that can receive messages, now or after their approval. */
  names: { channelType: InboundChannel; senderName: string }[]
}
export type TrialAnswer = {
  hindrance: RejectionCause | null
  isStop: boolean
  /** Only if the request has a number. */
  isBlacklisted: boolean | null
  center: CenterRow | null
  rule: InboundRuleRow | null
  others: { rule: InboundRuleRow; verdict: Exclude<RuleMatch, 'taken'> }[]
}

const seen = { needs: 'settings.see' } as const
const changed = { needs: 'settings.change' } as const

/** Inbound messages of the company, their rules, and the traffic centers of the rules. */
export const inboundRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    inboundMessageRoutes(api, context)
    ruleRoutes(api, context)
    centerRoutes(api, context)
    trialRoutes(api, context)
  }

/** Inbound messages, as a list and as a file. */
function inboundMessageRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql, clock, billingZone } = context
  const files = new FileSender(context, REPORTS_OF_PERSON)
  const traffic = { needs: 'traffic.see' } as const

  api.get(
    '/inbound',
    { config: traffic, schema: { querystring: List } },
    async ({ viewer, query }): Promise<InboundAnswer> => {
      const { companyId, inbound } = await companyOf(sql, viewer, query)
      const search = { ...searchOf(query), before: query.before?.toLowerCase(), limit: query.perPage }
      const { items, ...page } = await searchInbound(sql, companyId, search, clock())
      const stopped = items.filter(({ isStop }) => isStop).map(({ destination }) => destination)
      const blacklisted = await blacklistedAmong(sql, companyId, stopped)
      return {
        ...page,
        items: items.map(item => ({ ...present(item), isBlacklisted: blacklisted.has(item.destination) })),
        isOn: inbound,
        centers: (await listCenters(sql, companyId)).map(presentCenter),
      }
    },
  )

  api.get('/inbound/report', { config: traffic, schema: { querystring: Report } }, async (request, reply) => {
    const { viewer, query } = request
    const { companyId } = await companyOf(sql, viewer, query)
    const { language, zone = billingZone } = query
    refuseUnknownZone(zone)
    const pieces = reportOf(everyInbound(sql, companyId, searchOf(query), clock()), language, zone)
    return files.send(request, reply, { name: `inbound-${companyId}`, format: 'csv', pieces })
  })
}

/** The rules that choose the center of a message. */
function ruleRoutes(api: CabinetApi, { sql }: CabinetContext) {
  api.get(
    '/inbound/rules',
    { config: seen, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<RulesAnswer> => {
      const { companyId, inbound } = await companyOf(sql, viewer, query)
      return { isOn: inbound, ...(await settingsOf(sql, companyId)) }
    },
  )

  api.post(
    '/inbound/rules',
    { config: changed, schema: { querystring: OfCompany, body: NewRule } },
    async ({ viewer, actor, query, body }, reply): Promise<InboundRuleRow> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const added = await sql.begin(async tx => {
        const rule = await addRuleWithin(tx, companyId, body)
        await recordChange(tx, actor, { what: 'inbound_rule.added', ...subjectOf(rule), after: fieldsOf(rule) })
        return rule
      })
      reply.code(201)
      return presentRule(added as ListedRule)
    },
  )

  api.patch(
    '/inbound/rules/:ruleId',
    { config: changed, schema: { querystring: OfCompany, params: ByRule, body: RuleChange } },
    async ({ viewer, actor, query, params, body }): Promise<InboundRuleRow> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const { seen, ...change } = body
      const rule = await sql.begin(async tx => {
        const before = await requireRuleForUpdate(tx, companyId, params.ruleId)
        if (!isAsSeen(before, seen)) throw changedMeanwhile()
        const after = await changeRule(tx, before, change)
        const fields = { before: fieldsOf(before), after: fieldsOf(after) }
        await recordChange(tx, actor, { what: 'inbound_rule.changed', ...subjectOf(after), ...fields })
        return after
      })
      return presentRule(rule as ListedRule)
    },
  )

  api.delete(
    '/inbound/rules/:ruleId',
    { config: changed, schema: { querystring: OfCompany, params: ByRule } },
    async ({ viewer, actor, query, params }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await sql.begin(async tx => {
        const rule = await requireRuleForUpdate(tx, companyId, params.ruleId)
        await removeRule(tx, companyId, params.ruleId)
        await recordChange(tx, actor, { what: 'inbound_rule.removed', ...subjectOf(rule), before: fieldsOf(rule) })
      })
      return reply.code(204).send()
    },
  )
}

/** Traffic centers. */
function centerRoutes(api: CabinetApi, { sql }: CabinetContext) {
  api.post(
    '/inbound/centers',
    { config: changed, schema: { querystring: OfCompany, body: NewCenter } },
    async ({ viewer, actor, query, body }, reply): Promise<CenterRow> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const name = body.name.trim()
      const made = await sql.begin(async tx => {
        await lockCenters(tx, companyId)
        if ((await listCenters(tx, companyId)).some(center => center.name === name))
          throw invalid(`center: "${name}" is taken`)
        const center = await ensureCenter(tx, companyId, name)
        await recordChange(tx, actor, { what: 'traffic_center.added', ...centerSubject(center) })
        return center
      })
      reply.code(201)
      return presentCenter(made as TrafficCenter)
    },
  )

  /** `seen` is the default center that the person saw. */
  api.put(
    '/inbound/centers/default',
    { config: changed, schema: { querystring: OfCompany, body: NewDefault } },
    async ({ viewer, actor, query, body }): Promise<CenterRow> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const moved = await sql.begin(async tx => {
        const before = await lockCenters(tx, companyId)
        if (before.centerId !== body.seen) throw changedMeanwhile()
        const wanted = (await listCenters(tx, companyId)).find(({ centerId }) => centerId === body.centerId)
        if (!wanted) throw notFound('Traffic center')
        const center = await setDefaultCenterWithin(tx, companyId, wanted.name)
        const names = { before: { name: before.name }, after: { name: center.name } }
        await recordChange(tx, actor, { what: 'traffic_center.made_default', ...centerSubject(center), ...names })
        return center
      })
      return presentCenter(moved as TrafficCenter)
    },
  )
}

/** Tells the center of a message. It stores nothing and sends no callback. */
function trialRoutes(api: CabinetApi, { sql, stopWords }: CabinetContext) {
  api.get(
    '/inbound/trial',
    { config: seen, schema: { querystring: Trial } },
    async ({ viewer, query }): Promise<TrialAnswer> => {
      const company = await companyOf(sql, viewer, query)
      const { companyId } = company
      const written = { channelType: query.channel as ChannelType, senderName: query.name, text: query.text }
      const { place, rules: verdicts, ...trial } = await tryInbound(sql, company, written, stopWords)
      const { rules, centers } = await settingsOf(sql, companyId)
      const ruleOf = new Map(rules.map(rule => [rule.ruleId, rule]))
      const number = normaliseNumber(query.from)
      return {
        ...trial,
        isBlacklisted: number === undefined ? null : (await blacklistedAmong(sql, companyId, [number])).size > 0,
        center: centers.find(({ centerId }) => centerId === place?.centerId) ?? null,
        rule: ruleOf.get(place?.ruleId ?? 0) ?? null,
        others: verdicts.flatMap(({ ruleId, verdict }) => {
          const rule = ruleOf.get(ruleId)
          return rule && verdict !== 'taken' ? [{ rule, verdict }] : []
        }),
      }
    },
  )
}

const searchOf = ({ q, center, ...period }: Type.Static<typeof Filter>) => ({
  typed: q,
  centerId: center,
  ...searchPeriod(period),
})

async function settingsOf(sql: Sql, companyId: number): Promise<Omit<RulesAnswer, 'isOn'>> {
  await defaultCenter(sql, companyId)
  const [rules, centers, senders] = await Promise.all([
    listRules(sql, companyId),
    listCenters(sql, companyId),
    listSenders(sql, companyId, { channelType: [...inboundChannels] }),
  ])
  const names = new Map(
    senders.map(({ channelType, senderName }) => [`${channelType} ${senderName}`, { channelType, senderName }]),
  )
  return {
    rules: inOrder(rules).map(presentRule),
    centers: centers.map(presentCenter),
    names: [...names.values()] as RulesAnswer['names'],
  }
}

type Seen = Type.Static<typeof RuleChange>['seen']

const isAsSeen = (rule: ListedRule, seen: Seen) =>
  rule.centerId === seen.centerId &&
  (shown(rule.callbackUrl) ?? '') === seen.callbackUrl &&
  rule.senderNames.length === seen.senderNames.length &&
  rule.senderNames.every(name => seen.senderNames.includes(name))

const subjectOf = ({ companyId, ruleId }: ListedRule) => ({
  companyId,
  subject: { kind: 'inbound_rule', id: ruleId },
})

const centerSubject = ({ companyId, centerId, name }: TrafficCenter) => ({
  companyId,
  subject: { kind: 'traffic_center', id: centerId, name },
})

const fieldsOf = (rule: ListedRule) => ({
  channel: rule.channelType,
  senderNames: rule.senderNames,
  trafficCenter: rule.centerName,
  callbackUrl: shown(rule.callbackUrl),
})

/** An address may contain a password. */
const shown = (url: string | null) => (url === null ? null : withoutPassword(url))

const presentRule = (rule: ListedRule) => ({
  ruleId: rule.ruleId,
  channelType: rule.channelType,
  senderNames: rule.senderNames,
  centerId: rule.centerId,
  centerName: rule.centerName,
  callbackUrl: shown(rule.callbackUrl),
})

const presentCenter = ({ centerId, name, isDefault }: TrafficCenter): CenterRow => ({ centerId, name, isDefault })

const present = (message: ShownInbound) => ({
  uuid: message.uuid,
  receivedAt: message.receivedAt,
  channelType: message.channelType,
  senderName: message.senderName,
  destination: message.destination,
  text: message.text,
  isStop: message.isStop,
  centerName: message.centerName ?? '',
  ruleId: message.ruleId,
  isRuleThere: message.isRuleThere,
})

function reportOf(pages: AsyncIterable<ShownInbound[]>, language: Language, zone: string) {
  const words = reportWordsOf(language)
  const at = clockIn(zone)
  async function* rows() {
    for await (const page of pages)
      yield page.map(one => [
        at(one.receivedAt),
        one.destination,
        words.channelOf(one.channelType),
        one.senderName,
        one.text,
        one.centerName,
        one.isStop ? words.yes : words.no,
        one.uuid,
      ])
  }
  const head = [
    `${words.received} (${zone})`,
    words.number,
    words.channel,
    words.writtenTo,
    words.text,
    words.trafficCenter,
    words.stopWord,
    words.messageId,
  ]
  return csvOf(head, rows(), csvStyles[language])
}
