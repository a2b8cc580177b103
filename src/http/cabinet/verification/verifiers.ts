import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { changedMeanwhile } from '../../../base/errors.ts'
import { countries } from '../../../base/phone/countries.ts'
import type { Sql } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { withoutPassword } from '../../../domain/callbacks/callback.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { may } from '../../../domain/people/rights.ts'
import { needsNoRegistration } from '../../../domain/routing/routing.ts'
import { pageOfSenders } from '../../../domain/senders/senders.ts'
import { fieldsOf, subjectOf } from '../../../domain/verification/changes.ts'
import { verificationSums } from '../../../domain/verifications/verifications.ts'
import {
  defaultPage,
  defaultSenders,
  defaultSettings,
  type PageSettings,
  type Verifier,
  type VerifierChannel,
  type VerifierSettings,
  verifierChannels,
} from '../../../domain/verifiers/verifier.ts'
import {
  changeVerifierIn,
  createVerifier,
  deleteVerifier,
  requireVerifier,
  versionOf,
} from '../../../domain/verifiers/verifiers.ts'
import { listErrors } from '../../../domain/widgets/errors.ts'
import { snippetOf } from '../../../domain/widgets/snippet.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { ById, kinds, OfKind, VerifierId, verifierFor } from './find-verifier.ts'
import { isTotal, lastDays } from './period.ts'
import { Change, Form, optionsOf } from './verifier-form.ts'

const ByWidget = Type.Object({ id: VerifierId })

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
  /** Codes of the last seven days, which the page shows before a verifier is deleted. */
  sentLately: number
  /** The HTML of a widget, for a page with a server or for a page of a site builder. */
  snippets: { page: string; builder: string } | null
}
export type MadeAnswer = { id: string }
export type WidgetErrorsAnswer = { errors: ListedError[] }
export type ListedError = { code: number; reason: string; origin: string | null; number: string | null; at: Date }

const see = { needs: 'settings.see' } as const
const change = { needs: 'settings.change' } as const

const MOST_NAMES = 1000
const MOST_ERRORS = 20

/** Verifiers and widgets: the choices of their forms, and reading, creating, changing and deleting. */
export const verifierRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    verifierReadRoutes(api, context)
    verifierChangeRoutes(api, context)
    widgetErrorRoutes(api, context)
  }

/** Reads the choices of a form, and one verifier. */
function verifierReadRoutes(api: CabinetApi, { sql, clock, publicUrl }: CabinetContext) {
  /** The choices of a form, and the initial values of a new form. */
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
}

/** Creates, changes and deletes verifiers. */
function verifierChangeRoutes(api: CabinetApi, { sql, secret }: CabinetContext) {
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
          if (versionOf(now) !== body.version) throw changedMeanwhile()
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
}

/** Errors that visitors saw, with the reasons that the widget does not show. */
function widgetErrorRoutes(api: CabinetApi, { sql }: CabinetContext) {
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

/** A callback address may contain a password. A viewer without the right to change it does not see it. */
function presentWhole(verifier: Verifier, viewer: Viewer) {
  const { verifierId: id, companyId, name, settings, page, captchaSecret, createdAt } = verifier
  const shown = may(viewer, 'settings.change')
    ? settings
    : { ...settings, callbackUrl: settings.callbackUrl && withoutPassword(settings.callbackUrl) }
  const version = versionOf(verifier)
  return { id, companyId, name, settings: shown, page, hasCaptchaSecret: captchaSecret !== null, version, createdAt }
}

/** The registered names of the company, without names that were finally refused. */
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
