import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { countries } from '../../base/countries.ts'
import { AppError, invalid, notFound } from '../../base/errors.ts'
import { formatMoney } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { recordChange } from '../../domain/audit-log/audit-log.ts'
import { withoutPassword } from '../../domain/callbacks/callback.ts'
import { requireCompanyWithin } from '../../domain/companies/companies.ts'
import { needsNoRegistration } from '../../domain/dispatches/routing.ts'
import type { Viewer } from '../../domain/people/person.ts'
import { may } from '../../domain/people/rights.ts'
import { pageOfSenders } from '../../domain/senders/senders.ts'
import { createIntake } from '../../domain/singles/intake.ts'
import { fieldsOf, subjectOf } from '../../domain/verification/changes.ts'
import { codeLengthOf, sendCode } from '../../domain/verification/sends.ts'
import { CodeChecker } from '../../domain/verifications/checker.ts'
import { CodeBox } from '../../domain/verifications/code-box.ts'
import { kindOf, type SubjectKind } from '../../domain/verifications/guard.ts'
import type { CheckStatus } from '../../domain/verifications/verification.ts'
import {
  type BlockedSubject,
  type StatisticsSum,
  searchBlocked,
  unblockSubject,
  verificationSums,
} from '../../domain/verifications/verifications.ts'
import { sealCaptchaSecret } from '../../domain/verifiers/captcha-secret.ts'
import { originOf } from '../../domain/verifiers/origin.ts'
import {
  captchaKinds,
  defaultPage,
  defaultSenders,
  defaultSettings,
  type PageSettings,
  type Verifier,
  type VerifierChannel,
  type VerifierKind,
  type VerifierSettings,
  verifierChannels,
  widgetThemes,
} from '../../domain/verifiers/verifier.ts'
import {
  changeVerifierIn,
  createVerifier,
  deleteVerifier,
  hadVerifier,
  listVerifiers,
  requireAnyVerifier,
  requireVerifier,
  type VerifierOptions,
  versionOf,
} from '../../domain/verifiers/verifiers.ts'
import { countErrors, listErrors } from '../../domain/widgets/errors.ts'
import { snippetOf } from '../../domain/widgets/snippet.ts'
import { Nullable, OneOf } from '../schemas.ts'
import type { CabinetContext } from './cabinet-context.ts'
import { companyOf, OfCompany } from './whose.ts'

const kinds = { verifiers: 'API', widgets: 'WIDGET' } as const satisfies Record<string, VerifierKind>

const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })
const VerifierId = Type.String({ minLength: 1, maxLength: 64 })
const Overview = Type.Object({
  ...OfCompany.properties,
  verifier: Type.Optional(VerifierId),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
})
const Blocked = Type.Object({ ...OfCompany.properties, search: Type.Optional(Type.String({ maxLength: 100 })) })
const Unblock = Type.Object({ subject: Type.String({ minLength: 1, maxLength: 200 }) })
const OfKind = Type.Object({ kind: OneOf(['verifiers', 'widgets']) })
const ById = Type.Object({ ...OfKind.properties, id: VerifierId })
const ByWidget = Type.Object({ id: VerifierId })

/** Closed: what a form sends is stored as it is. */
const closed = { additionalProperties: false }
const Short = Type.String({ maxLength: 500 })
const SenderName = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }))
const Settings = Type.Unsafe<VerifierSettings>(
  Type.Object(
    {
      channels: Type.Array(OneOf(verifierChannels), { maxItems: 20 }),
      senders: Type.Object(Object.fromEntries(verifierChannels.map(channel => [channel, SenderName])), closed),
      fallbackSeconds: Nullable(Type.Number()),
      codeLength: Type.Number(),
      lifetimeSeconds: Type.Number(),
      tries: Type.Number(),
      pauseSeconds: Type.Number(),
      texts: Type.Unsafe({
        type: 'object',
        maxProperties: 50,
        additionalProperties: { type: 'string', maxLength: 2000 },
      }),
      countries: Type.Array(Type.String({ maxLength: 10 }), { maxItems: 300 }),
      webOtpHost: Nullable(Short),
      androidHash: Nullable(Short),
      callbackUrl: Nullable(Type.String({ maxLength: 2000 })),
      limits: Type.Object(
        {
          perNumber: Type.Number(),
          perAddress: Type.Number(),
          perPrefix: Type.Number(),
          perVerifier: Type.Number(),
          perCompany: Type.Number(),
          leastConfirmed: Type.Number(),
        },
        closed,
      ),
    },
    closed,
  ),
)
const PageForm = Type.Unsafe<PageSettings>(
  Type.Object(
    {
      origins: Type.Array(Short, { maxItems: 200 }),
      captcha: OneOf(captchaKinds),
      captchaSiteKey: Nullable(Short),
      isBuilder: Type.Boolean(),
      look: Type.Optional(
        Type.Object(
          {
            accent: Nullable(Short),
            accentDark: Nullable(Short),
            radiusPixels: Nullable(Type.Number()),
            theme: OneOf(widgetThemes),
          },
          closed,
        ),
      ),
    },
    closed,
  ),
)
const Form = Type.Object({
  name: Type.String({ maxLength: 500 }),
  settings: Settings,
  page: Type.Optional(PageForm),
  /** Without it, the secret stays as it is. */
  captchaSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, pattern: '^[^\\r\\n]+$' })),
})
const Change = Type.Object({ ...Form.properties, version: Type.String({ maxLength: 64 }) })
const Try = Type.Object({
  channelType: OneOf(verifierChannels),
  destination: Type.String({ minLength: 1, maxLength: 64 }),
  language: Type.Optional(Type.String({ minLength: 2, maxLength: 10 })),
})
const Guess = Type.Object({
  uuid: Type.String({ minLength: 1, maxLength: 64 }),
  code: Type.String({ minLength: 1, maxLength: 20 }),
})

/** What the pages ask and get; they import these types. */
export type VerifierForm = Type.Static<typeof Form>
export type VerifierChange = Type.Static<typeof Change>
export type TryForm = Type.Static<typeof Try>
export type KindPath = keyof typeof kinds
export type Sums = {
  sent: number
  delivered: number
  confirmed: number
  secondsToConfirm: number | null
  /** Decimals with four places; null for people who may not see money. */
  cost: string | null
  costOfConfirmed: string | null
}
export type ListedVerifier = ReturnType<typeof presentListed> & { sums: Sums }
export type ListedWidget = ListedVerifier & {
  origins: string[]
  isBuilder: boolean
  /** Within a day; the code is the most frequent one. */
  errors: { count: number; code: number } | null
}
export type VerificationAnswer = {
  companyId: number
  currency: string
  /** Days of the calendar in UTC. */
  from: string
  to: string
  total: Sums
  /** Of the period of the same length before. */
  before: Sums
  byDay: (Sums & { day: string })[]
  byCountry: (Sums & { country: string })[]
  byChannel: (Sums & { channelType: VerifierChannel })[]
  verifiers: ListedVerifier[]
  widgets: ListedWidget[]
}
export type BlockedAnswer = { blocked: ListedBlock[]; isMore: boolean }
export type ListedBlock = ReturnType<typeof presentBlocked>
export type OfferedName = { channelType: VerifierChannel; senderName: string; isUsable: boolean }
export type OfferAnswer = {
  channels: readonly VerifierChannel[]
  /** Channels whose names must be registered and approved. */
  registered: VerifierChannel[]
  names: OfferedName[]
  defaultSenders: typeof defaultSenders
  countries: string[]
  settings: VerifierSettings
  page: PageSettings
}
export type WholeVerifier = {
  id: string
  companyId: number
  name: string
  settings: VerifierSettings
  page: PageSettings | null
  hasCaptchaSecret: boolean
  version: string
  createdAt: Date
  /** In the last seven days, before somebody deletes it. */
  sentLately: number
  /** The HTML of a widget, for a page with a server and for a page of a site builder. */
  snippets: { page: string; builder: string } | null
}
export type MadeAnswer = { id: string }
export type TryAnswer = { uuid: string; codeLength: number }
export type GuessAnswer = { status: CheckStatus; triesLeft: number }
export type WidgetErrorsAnswer = { errors: ListedError[] }
export type ListedError = { code: number; reason: string; origin: string | null; number: string | null; at: Date }

const see = { needs: 'settings.see' } as const
const change = { needs: 'settings.change' } as const

const MOST_BLOCKED = 100
const MOST_NAMES = 1000
const MOST_ERRORS = 20

/** Verifiers and widgets, what became of their codes, and what is blocked. */
export const verificationRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const { sql, clock, secret, numbering, billingZone, publicUrl } = context
    const codes = new CodeBox(secret)
    const checker = new CodeChecker(sql, codes)
    const intake = createIntake({ sql, clock, numbering, billingZone, linkBase: `${publicUrl}/s` })

    api.get(
      '/verification',
      { config: see, schema: { querystring: Overview } },
      async ({ viewer, query }): Promise<VerificationAnswer> => {
        const { companyId, currency } = await companyOf(sql, viewer, query)
        const period = periodOf(query, clock())
        await refuseUnknown(sql, companyId, query.verifier)
        const present = presenterOf(viewer)
        const [all, asked, earlier, verifiers, widgets, errors] = await Promise.all([
          verificationSums(sql, companyId, period),
          query.verifier === undefined
            ? null
            : verificationSums(sql, companyId, { ...period, verifierId: query.verifier }),
          verificationSums(sql, companyId, { ...periodBefore(period), ...only(query.verifier) }),
          listVerifiers(sql, companyId, 'API'),
          listVerifiers(sql, companyId, 'WIDGET'),
          countErrors(sql, companyId),
        ])
        const sums = asked ?? all
        const withSums = (verifier: Verifier) => ({
          ...presentListed(verifier),
          sums: present(all.find(({ verifierId }) => verifierId === verifier.verifierId)),
        })
        return {
          companyId,
          currency,
          ...period,
          total: present(sums.find(isTotal)),
          before: present(earlier.find(isTotal)),
          byDay: daysOf(period).map(day => ({ day, ...present(sums.find(sum => sum.day === day)) })),
          byCountry: told(sums, 'country').map(sum => ({ country: sum.country!, ...present(sum) })),
          byChannel: told(sums, 'channelType').map(sum => ({
            channelType: sum.channelType as VerifierChannel,
            ...present(sum),
          })),
          verifiers: verifiers.map(withSums),
          widgets: widgets.map(widget => ({
            ...withSums(widget),
            origins: widget.page!.origins,
            isBuilder: widget.page!.isBuilder,
            errors: errorsOf(errors.filter(({ widgetId }) => widgetId === widget.verifierId)),
          })),
        }
      },
    )

    api.get(
      '/verification/blocked',
      { config: see, schema: { querystring: Blocked } },
      async ({ viewer, query }): Promise<BlockedAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const text = (query.search ?? '').replaceAll(/[\s()+]/g, '')
        const found = await searchBlocked(sql, companyId, text, MOST_BLOCKED + 1)
        return { blocked: found.slice(0, MOST_BLOCKED).map(presentBlocked), isMore: found.length > MOST_BLOCKED }
      },
    )

    api.post(
      '/verification/unblock',
      { config: change, schema: { querystring: OfCompany, body: Unblock } },
      async ({ viewer, actor, query, body }, reply) => {
        const { companyId } = await companyOf(sql, viewer, query)
        await sql.begin(async tx => {
          if (!(await unblockSubject(tx, companyId, body.subject))) throw notFound('Block')
          const subject = { kind: 'block', id: body.subject }
          await recordChange(tx, actor, { what: 'verifier.unblocked', subject, companyId })
        })
        return reply.code(204).send()
      },
    )

    /** What a form can choose from, and what a new one begins with. */
    api.get(
      '/verification/offer',
      { config: see, schema: { querystring: OfCompany } },
      async ({ viewer, query }): Promise<OfferAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        return {
          channels: verifierChannels,
          registered: verifierChannels.filter(channel => !needsNoRegistration(channel, '')),
          names: await namesOf(sql, companyId),
          defaultSenders,
          countries: countries.map(({ code }) => code),
          settings: defaultSettings,
          page: defaultPage,
        }
      },
    )

    api.get(
      '/verification/:kind/:id',
      { config: see, schema: { params: ById } },
      async ({ viewer, params }): Promise<WholeVerifier> => {
        const verifier = await verifierFor(sql, viewer, params)
        const { companyId, verifierId } = verifier
        const lately = await verificationSums(sql, companyId, { ...lastDays(clock(), 7), verifierId })
        return {
          ...presentWhole(verifier, viewer),
          sentLately: lately.find(isTotal)?.sent ?? 0,
          snippets: verifier.page && {
            page: snippetOf(publicUrl, verifierId, false).join('\n'),
            builder: snippetOf(publicUrl, verifierId, true).join('\n'),
          },
        }
      },
    )

    api.post(
      '/verification/:kind',
      { config: change, schema: { querystring: OfCompany, params: OfKind, body: Form } },
      async ({ viewer, actor, query, params, body }, reply): Promise<MadeAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const kind = kinds[params.kind]
        const id = await sql.begin(async tx => {
          const id = await createVerifier(tx, companyId, kind, optionsOf(kind, body, secret))
          const made = await requireVerifier(tx, companyId, kind, id)
          const what = kind === 'API' ? 'verifier.created' : 'widget.created'
          await recordChange(tx, actor, { what, ...subjectOf(made), after: fieldsOf(made) })
          return id
        })
        reply.code(201)
        return { id }
      },
    )

    api.put(
      '/verification/:kind/:id',
      { config: change, schema: { params: ById, body: Change } },
      async ({ viewer, actor, params, body }): Promise<MadeAnswer> => {
        const verifier = await verifierFor(sql, viewer, params)
        await sql.begin(async tx => {
          const { before, after } = await changeVerifierIn(tx, verifier, now => {
            if (versionOf(now) !== body.version) throw invalid(MEANWHILE)
            return optionsOf(now.kind, body, secret, now)
          })
          const what = verifier.kind === 'API' ? 'verifier.changed' : 'widget.changed'
          const fields = { before: fieldsOf(before, after), after: fieldsOf(after, before) }
          await recordChange(tx, actor, { what, ...subjectOf(after), ...fields })
        })
        return { id: params.id }
      },
    )

    api.delete(
      '/verification/:kind/:id',
      { config: change, schema: { params: ById } },
      async ({ viewer, actor, params }, reply) => {
        const verifier = await verifierFor(sql, viewer, params)
        await sql.begin(async tx => {
          await deleteVerifier(tx, verifier)
          const what = verifier.kind === 'API' ? 'verifier.deleted' : 'widget.deleted'
          await recordChange(tx, actor, { what, ...subjectOf(verifier), before: fieldsOf(verifier) })
        })
        return reply.code(204).send()
      },
    )

    /** A code to the own telephone: a real one, which costs what codes cost. */
    api.post(
      '/verification/:kind/:id/try',
      { config: change, schema: { params: ById, body: Try } },
      async ({ viewer, actor, params, body }): Promise<TryAnswer> => {
        refuseWhoMayNotSend(viewer)
        const verifier = await verifierFor(sql, viewer, params)
        const { companyId, settings } = verifier
        const request = { ...body, destination: digitsOf(body.destination), method: 'VERIFIER_API' as const }
        const outcome = await sendCode({ codes, intake, numbering }, verifier, request)
        if (outcome.kind === 'refused') {
          if (outcome.why === 'too many')
            throw new AppError('too_many_requests', outcome.reason, { retryAfterSeconds: outcome.retryAfterSeconds })
          throw invalid(outcome.reason)
        }
        const subject = { kind: 'message', id: outcome.uuid }
        const after = { verifier: verifier.verifierId }
        await sql.begin(tx => recordChange(tx, actor, { what: 'message.sent', companyId, subject, after }))
        return { uuid: outcome.uuid, codeLength: codeLengthOf(settings, body.channelType) }
      },
    )

    api.post(
      '/verification/:kind/:id/try/check',
      { config: change, schema: { params: ById, body: Guess } },
      async ({ viewer, params, body }): Promise<GuessAnswer> => {
        refuseWhoMayNotSend(viewer)
        const { companyId } = await verifierFor(sql, viewer, params)
        const { status, triesLeft } = await checker.check(companyId, body.uuid, body.code.replaceAll(/\s/g, ''))
        return { status, triesLeft }
      },
    )

    /** What visitors of the pages saw, with the reasons that the widget does not show. */
    api.get(
      '/verification/widgets/:id/errors',
      { config: see, schema: { params: ByWidget } },
      async ({ viewer, params }): Promise<WidgetErrorsAnswer> => {
        const { companyId, verifierId } = await verifierFor(sql, viewer, { kind: 'widgets', id: params.id })
        const errors = await listErrors(sql, companyId, { widgetId: verifierId, limit: MOST_ERRORS })
        return {
          errors: errors.map(({ code, reason, origin, destination, createdAt }) => ({
            code,
            reason,
            origin,
            number: destination && `…${destination.slice(-4)}`,
            at: createdAt,
          })),
        }
      },
    )
  }

const MEANWHILE = 'Somebody else changed this meanwhile: load it again'

/** The verifier, if it is of a company that the viewer looks after. */
async function verifierFor(sql: Sql, viewer: Viewer, { kind, id }: { kind: KindPath; id: string }): Promise<Verifier> {
  const verifier = await requireAnyVerifier(sql, kinds[kind], id)
  await requireCompanyWithin(sql, viewer, verifier.companyId)
  return verifier
}

function refuseWhoMayNotSend(viewer: Viewer) {
  if (!may(viewer, 'traffic.send')) throw new AppError('access_denied', 'Your role does not allow it')
}

const digitsOf = (number: string) => number.replaceAll(/[\s()+-]/g, '')

// Statistics -----------------------------------------------------------------------------------------------------------

const DAY_MS = 24 * 3600_000
const USUAL_DAYS = 14
const MOST_DAYS = 366

type Period = { from: string; to: string }

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

const lastDays = (now: Date, days: number): Period => ({
  from: dayOf(now.getTime() - (days - 1) * DAY_MS),
  to: dayOf(now.getTime()),
})

function periodOf(given: { from?: string; to?: string }, now: Date): Period {
  for (const name of ['from', 'to'] as const)
    if (given[name] !== undefined && !isDay(given[name])) throw invalid(`${name}: must be a day such as 2026-05-01`)
  const to = given.to ?? dayOf(now.getTime())
  const from = given.from ?? lastDays(new Date(to), USUAL_DAYS).from
  if (from > to) throw invalid('from: must not be after to')
  if (daysOf({ from, to }).length > MOST_DAYS) throw invalid(`from: must be at most ${MOST_DAYS} days before to`)
  return { from, to }
}

/** A day of the calendar: February has no 30th. */
const isDay = (text: string) => !Number.isNaN(Date.parse(text)) && dayOf(Date.parse(text)) === text

function daysOf({ from, to }: Period): string[] {
  const count = Math.min((Date.parse(to) - Date.parse(from)) / DAY_MS, MOST_DAYS) + 1
  return Array.from({ length: count }, (_, i) => dayOf(Date.parse(from) + i * DAY_MS))
}

function periodBefore(period: Period): Period {
  const days = daysOf(period).length
  const earlier = (day: string) => dayOf(Date.parse(day) - days * DAY_MS)
  return { from: earlier(period.from), to: earlier(period.to) }
}

const only = (verifierId: string | undefined) => (verifierId === undefined ? {} : { verifierId })

async function refuseUnknown(sql: Sql, companyId: number, verifierId: string | undefined) {
  if (verifierId !== undefined && !(await hadVerifier(sql, companyId, verifierId))) throw notFound('Verifier')
}

const isTotal = ({ day, channelType, country, verifierId }: StatisticsSum) =>
  day === null && channelType === null && country === null && verifierId === null

const told = (sums: StatisticsSum[], by: 'country' | 'channelType') => sums.filter(sum => sum[by] !== null)

/** A person who may send sees what codes cost. */
function presenterOf(viewer: Viewer) {
  const seesMoney = may(viewer, 'money.see') || may(viewer, 'traffic.send')
  return (sum: StatisticsSum | undefined): Sums => {
    const { sent, delivered, confirmed, cost, confirmMs } = sum ?? nothing
    return {
      sent,
      delivered,
      confirmed,
      secondsToConfirm: confirmed > 0 ? Math.round(confirmMs / confirmed / 100) / 10 : null,
      cost: seesMoney ? formatMoney(cost) : null,
      costOfConfirmed:
        seesMoney && confirmed > 0 ? formatMoney((cost + BigInt(confirmed) / 2n) / BigInt(confirmed)) : null,
    }
  }
}

const nothing = { sent: 0, delivered: 0, confirmed: 0, cost: 0n, confirmMs: 0 } as unknown as StatisticsSum

function errorsOf(counts: { code: number; count: number }[]) {
  if (counts.length === 0) return null
  return { count: counts.reduce((sum, { count }) => sum + count, 0), code: counts[0]!.code }
}

// Verifiers and blocks -------------------------------------------------------------------------------------------------

const presentListed = ({ verifierId, name, settings, createdAt }: Verifier) => ({
  id: verifierId,
  name,
  channels: settings.channels,
  hasFallback: settings.fallbackSeconds !== null,
  codeLength: settings.codeLength,
  lifetimeSeconds: settings.lifetimeSeconds,
  tries: settings.tries,
  createdAt,
})

/** A callback address may hold a password: people who may not change it do not see it. */
function presentWhole(verifier: Verifier, viewer: Viewer) {
  const { verifierId: id, companyId, name, settings, page, captchaSecret, createdAt } = verifier
  const shown = may(viewer, 'settings.change')
    ? settings
    : { ...settings, callbackUrl: settings.callbackUrl && withoutPassword(settings.callbackUrl) }
  const version = versionOf(verifier)
  return { id, companyId, name, settings: shown, page, hasCaptchaSecret: captchaSecret !== null, version, createdAt }
}

const presentBlocked = ({ subject, blockedUntil, blocks, reason }: BlockedSubject) => ({
  subject,
  kind: kindOf(subject) as SubjectKind,
  value: subject.includes(':') ? subject.slice(subject.indexOf(':') + 1) : null,
  until: blockedUntil,
  times: blocks,
  reason,
})

/** The names that the company registered; those refused for good are not offered. */
async function namesOf(sql: Sql, companyId: number): Promise<OfferedName[]> {
  const { items } = await pageOfSenders(sql, companyId, {}, { page: 1, perPage: MOST_NAMES })
  const offered = items.filter(
    ({ status, channelType }) =>
      status !== 'DENIED' && status !== 'CLOSED' && (verifierChannels as readonly string[]).includes(channelType),
  )
  const byName = Map.groupBy(offered, ({ channelType, senderName }) => `${channelType} ${senderName}`)
  return [...byName.values()].map(registrations => ({
    channelType: registrations[0]!.channelType as VerifierChannel,
    senderName: registrations[0]!.senderName,
    isUsable: registrations.some(({ status, suspended }) => status === 'APPROVED' && !suspended),
  }))
}

/** The keys of one captcha are of no use to another. */
function optionsOf(kind: VerifierKind, form: VerifierForm, secret: string, before?: Verifier): VerifierOptions {
  const { name, settings } = form
  if (kind === 'API') return { name, settings }
  if (!form.page) throw invalid('page: is required')
  const page = { ...form.page, origins: [...new Set(form.page.origins.map(originOf))] }
  const isForgotten = page.captcha !== before?.page?.captcha
  return {
    name,
    settings,
    page,
    ...(isForgotten && { captchaSecret: null }),
    ...(form.captchaSecret !== undefined && { captchaSecret: sealCaptchaSecret(secret, form.captchaSecret) }),
  }
}
