import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { trafficTypes } from '../../base/channel-types.ts'
import { invalid, UsageError } from '../../base/errors.ts'
import { formatMoney, type Money, moneyToNumber } from '../../base/money.ts'
import { localTimeToInstant } from '../../base/sending-window.ts'
import type { Sql } from '../../db/sql.ts'
import { recordChange } from '../../domain/audit-log/audit-log.ts'
import { requireCompanyWithin } from '../../domain/companies/companies.ts'
import { monthOf } from '../../domain/ledger/account.ts'
import { brands } from '../../domain/numbering/brand.ts'
import { requirePartner } from '../../domain/partners/partners.ts'
import {
  type BookDifference,
  type BookOwner,
  changeBook,
  differenceOf,
  earlierTariffs,
  GENERAL,
  listBooks,
  type NewTariff,
  openBook,
  requireTariff,
  versionOf,
  withdrawTariff,
} from '../../domain/pricing/book.ts'
import { greatestVolumes, volumeOf } from '../../domain/pricing/calculation.ts'
import {
  checkTariffs,
  readAmount,
  readTariff,
  readTariffFile,
  type TariffRow,
  writeTariffFile,
} from '../../domain/pricing/imports.ts'
import { changeSenderFee, currentTariffs, listOtherPrices, listSenderFees } from '../../domain/pricing/pricing.ts'
import {
  type DatedTariff,
  placeKey,
  pricingModels,
  type Tariff,
  type TariffPlace,
  type TariffStep,
} from '../../domain/pricing/tariff.ts'
import { senderTypes } from '../../domain/senders/sender.ts'
import { Id, Nullable, OneOf } from '../schemas.ts'
import type { CabinetContext } from './cabinet-context.ts'
import { OfCompany } from './whose.ts'

const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })
const Version = Type.String({ minLength: 1, maxLength: 40 })
const AmountText = Type.String({ maxLength: 30 })

/** Whose tariffs: without a partner, the general ones. */
const OfBook = Type.Object({ partnerId: Type.Optional(Id) })
const ByTariff = Type.Object({ tariffId: Id })

const Change = Type.Object({
  partnerId: Type.Optional(Id),
  senderType: OneOf(senderTypes),
  brand: Type.Union([Type.Null(), OneOf(brands)]),
  trafficType: Type.Union([Type.Null(), OneOf(trafficTypes)]),
  /** Null: at once. */
  from: Nullable(Day),
  /** Of the tariffs for this place, as the person saw them; empty: there was none. */
  version: Type.String({ maxLength: 40 }),
  /** Null ends the tariff. */
  tariff: Type.Union([
    Type.Null(),
    Type.Object({
      pricingModel: OneOf(pricingModels),
      steps: Type.Array(
        Type.Object({
          from: Type.String({ maxLength: 20 }),
          price: AmountText,
          priceMauBatch: Type.Union([AmountText, Type.Null()]),
        }),
        { minItems: 1, maxItems: 100 },
      ),
    }),
  ]),
})

const Import = Type.Object({
  partnerId: Type.Optional(Id),
  /** A CSV file, or a JSON list. */
  text: Type.String({ minLength: 1, maxLength: 500_000 }),
  from: Nullable(Day),
  /** Ends the tariffs that the file does not name. */
  replaces: Type.Boolean(),
})
const CheckedImport = Type.Object({ ...Import.properties, version: Version })

const FeeChange = Type.Object({ brand: OneOf(brands), before: Type.Number(), value: AmountText })

/** What the page asks and gets; it imports these types. */
export type TariffChange = Type.Static<typeof Change>
export type TariffsImport = Type.Static<typeof Import>
export type SenderFeeChange = Type.Static<typeof FeeChange>
export type ListedTariff = ReturnType<typeof present>
export type TariffsAnswer = {
  books: { partnerId: number; login: string; hasOwn: boolean }[]
  partner: { partnerId: number; login: string } | null
  tariffs: ListedTariff[]
  /** Whose days count. */
  zone: string
} & Awaited<ReturnType<typeof otherPrices>>
/** `volumes`: what the tariff has counted this month, of the chosen company or of those with most. */
export type TariffAnswer = {
  tariff: ListedTariff
  partner: { partnerId: number; login: string } | null
  /** The tariff for this place that holds now, and those that will; of a tariff that is over, what came after. */
  periods: ListedTariff[]
  earlier: ListedTariff[]
  version: string
  zone: string
  volumes: { companyId: number; name: string; count: number }[]
}
type ImportPlace = { senderType: string; brand: string | null; trafficType: string | null }
type ImportedTariff = ImportPlace & { pricingModel: string; steps: ListedTariff['steps'] }
export type ImportAnswer = {
  added: ImportedTariff[]
  changed: { before: ImportedTariff; after: ImportedTariff }[]
  ended: ImportedTariff[]
  unchanged: number
  wrong: string[]
  version: string
}

/** Tariffs and fees, for staff. */
export const tariffRoutes =
  ({ sql, clock, billingZone }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    api.get(
      '/tariffs',
      { config: { needs: 'tariffs.see' }, schema: { querystring: OfBook } },
      async ({ query }): Promise<TariffsAnswer> => {
        const owner = await ownerOf(sql, query)
        const tariffs = await openBook(sql, owner.partnerId)
        return {
          books: await listBooks(sql),
          partner: partnerOf(owner),
          tariffs: tariffs.map(present),
          zone: billingZone,
          ...(await otherPrices(sql)),
        }
      },
    )

    api.get(
      '/tariffs/:tariffId',
      { config: { needs: 'tariffs.see' }, schema: { params: ByTariff, querystring: OfCompany } },
      async ({ viewer, params, query }): Promise<TariffAnswer> => {
        const tariff = await requireTariff(sql, params.tariffId)
        const owner = await ownerOf(sql, tariff)
        const periods = await periodsOf(sql, owner.partnerId, tariff)
        const month = monthOf(clock(), billingZone)
        return {
          tariff: present(tariff),
          partner: partnerOf(owner),
          periods: periods.map(present),
          earlier: (await earlierTariffs(sql, tariff)).map(present),
          version: versionOf(periods),
          zone: billingZone,
          volumes: query.companyId
            ? [await volumeIn(await requireCompanyWithin(sql, viewer, query.companyId), tariff, month)]
            : await greatestVolumes(sql, tariff, month),
        }
      },
    )

    const volumeIn = async (
      { companyId, name }: { companyId: number; name: string },
      tariff: Tariff,
      month: string,
    ) => ({
      companyId,
      name,
      count: await volumeOf(sql, companyId, tariff, month),
    })

    api.post(
      '/tariffs/changes',
      { config: { needs: 'tariffs.change' }, schema: { body: Change } },
      async ({ actor, body }, reply) => {
        const owner = await ownerOf(sql, body)
        const { senderType, brand, trafficType } = body
        const version = body.version || versionOf([])
        const place = { senderType, brand, trafficType }
        const tariff = body.tariff && asked(() => readTariff({ ...place, ...body.tariff! }, 'tariff'))
        const from = startOf(body.from)
        await sql.begin(async tx => {
          const change = tariff ? { tariffs: [tariff] } : { ended: [place] }
          const done = await changeBook(tx, owner, { ...change, from, version, versionPlace: place })
          const [before] = [...done.replaced.map(one => one.before), ...done.ended]
          if (done.unchanged.length > 0) throw invalid('The tariff is the same as before')
          if (!tariff && !before) throw invalid('There is no tariff that could end')
          await recordChange(tx, actor, {
            what: tariff ? 'tariffs.changed' : 'tariffs.ended',
            subject: subjectOf(owner, place),
            partnerId: owner.partnerId,
            ...(before ? { before: fieldsOf(before) } : {}),
            after: { ...(tariff ? fieldsOf(tariff) : {}), ...(from ? { from } : {}) },
          })
        })
        return reply.code(204).send()
      },
    )

    /** Takes back a change before its day. */
    api.delete(
      '/tariffs/:tariffId',
      { config: { needs: 'tariffs.change' }, schema: { params: ByTariff } },
      async ({ actor, params }, reply) => {
        await sql.begin(async tx => {
          const tariff = await withdrawTariff(tx, params.tariffId)
          await recordChange(tx, actor, {
            what: 'tariffs.withdrawn',
            subject: subjectOf(await ownerOf(tx, tariff), tariff),
            partnerId: tariff.partnerId,
            before: { ...fieldsOf(tariff), from: tariff.validFrom },
          })
        })
        return reply.code(204).send()
      },
    )

    /** What an import would change. */
    api.post(
      '/tariffs/import/check',
      { config: { needs: 'tariffs.change' }, schema: { body: Import } },
      async ({ body }): Promise<ImportAnswer> => {
        const owner = await ownerOf(sql, body)
        const { tariffs, wrong } = asked(() => checkTariffs(readTariffFile(body.text)))
        const book = await openBook(sql, owner.partnerId)
        const from = startOf(body.from) ?? clock()
        const ended = body.replaces ? notNamed(book, tariffs) : []
        return { ...presentDifference(differenceOf(book, { tariffs, ended }, from)), wrong, version: versionOf(book) }
      },
    )

    api.post(
      '/tariffs/import',
      { config: { needs: 'tariffs.change' }, schema: { body: CheckedImport } },
      async ({ actor, body }, reply) => {
        const owner = await ownerOf(sql, body)
        const { tariffs, wrong } = asked(() => checkTariffs(readTariffFile(body.text)))
        if (wrong.length > 0) throw invalid(`The file has mistakes: ${wrong[0]}`)
        const from = startOf(body.from)
        await sql.begin(async tx => {
          const ended = body.replaces ? notNamed(await openBook(tx, owner.partnerId), tariffs) : []
          const done = await changeBook(tx, owner, { tariffs, ended, from, version: body.version })
          await recordChange(tx, actor, {
            what: 'tariffs.imported',
            subject: { kind: 'tariffs', id: loginOf(owner) ?? 'general' },
            partnerId: owner.partnerId,
            after: { ...countsOf(done), ...(from ? { from } : {}) },
          })
        })
        return reply.code(204).send()
      },
    )

    /** The tariffs that hold now, as a file that can be imported again. */
    api.get(
      '/tariffs/export',
      { config: { needs: 'tariffs.see' }, schema: { querystring: OfBook } },
      async ({ query }, reply) => {
        const owner = await ownerOf(sql, query)
        const name = `tariffs-${owner.partnerId ?? 'general'}.csv`
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${name}"`)
          .send(writeTariffFile(await currentTariffs(sql, owner.partnerId)))
      },
    )

    api.patch(
      '/tariffs/fees',
      { config: { needs: 'tariffs.change' }, schema: { body: FeeChange } },
      async ({ actor, body }, reply) => {
        const value = asked(() => readAmount(body.value, MOST_FOR_NAME, 'value'))
        const fee = (await listSenderFees(sql)).find(({ brand }) => brand === body.brand)
        if (!fee || moneyToNumber(fee.value) !== body.before)
          throw invalid('Somebody else changed this fee in the meantime: look at it again')
        await sql.begin(async tx => {
          await changeSenderFee(tx, body.brand, fee.value, value)
          await recordChange(tx, actor, {
            what: 'tariffs.fee_changed',
            subject: { kind: 'sender_fee', id: body.brand },
            before: { fee: formatMoney(fee.value) },
            after: { fee: formatMoney(value) },
          })
        })
        return reply.code(204).send()
      },
    )

    /** The beginning of a day on the clock of the billing zone; not today's, nor one that lies too far ahead. */
    function startOf(day: string | null): Date | undefined {
      if (day === null) return undefined
      const start = localTimeToInstant(`${day} 00:00:00`, { name: billingZone })
      const now = clock().getTime()
      if (!start || start.getTime() <= now || start.getTime() > now + FARTHEST_MS)
        throw invalid('from: must be a day from tomorrow on, within a year')
      return start
    }
  }

const FARTHEST_MS = 366 * 24 * 3600_000
const MOST_FOR_NAME: Money = 10_000_000_000n

type Owner = BookOwner & { login?: string }

async function ownerOf(sql: Sql, { partnerId }: { partnerId?: number | null }): Promise<Owner> {
  return partnerId ? await requirePartner(sql, partnerId) : GENERAL
}

const loginOf = ({ login }: Owner) => login

const partnerOf = ({ partnerId, login }: Owner) => (partnerId === null ? null : { partnerId, login: login! })

async function periodsOf(sql: Sql, partnerId: number | null, place: TariffPlace): Promise<DatedTariff[]> {
  const tariffs = (await openBook(sql, partnerId)).filter(tariff => placeKey(tariff) === placeKey(place))
  return tariffs.sort((a, b) => (a.validFrom?.getTime() ?? 0) - (b.validFrom?.getTime() ?? 0))
}

const notNamed = (book: DatedTariff[], tariffs: NewTariff[]): TariffPlace[] => {
  const named = new Set(tariffs.map(placeKey))
  return book.filter(tariff => !named.has(placeKey(tariff)))
}

/** A mistake in what the person typed or in the file: the domain tells a person at a terminal. */
function asked<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UsageError) throw invalid(error.message)
    throw error
  }
}

const subjectOf = (owner: Owner, place: TariffPlace) => ({
  kind: 'tariff',
  id: `${loginOf(owner) ?? 'general'} ${placeKey(place)}`,
})

const fieldsOf = ({ pricingModel, steps }: Pick<TariffRow, 'pricingModel'> & { steps: TariffStep[] }) => ({
  pricingModel,
  prices: steps.map(({ from, price, priceMauBatch }) =>
    [`${from}: ${formatMoney(price)}`, ...(priceMauBatch === null ? [] : [formatMoney(priceMauBatch)])].join(' + '),
  ),
})

const countsOf = ({ added, replaced, ended, unchanged }: BookDifference) => ({
  added: added.length,
  replaced: replaced.length,
  removed: ended.length,
  unchanged: unchanged.length,
})

/** What every partner pays alike. */
export async function otherPrices(sql: Sql) {
  const { channels, countries } = await listOtherPrices(sql)
  return {
    fees: (await listSenderFees(sql)).map(({ brand, value, currency }) => ({
      brand: brand as (typeof brands)[number],
      value: moneyToNumber(value),
      currency,
    })),
    channels: channels.map(({ channelType, price }) => ({ channelType, price: moneyToNumber(price) })),
    countries: countries.map(({ countryCode, price }) => ({ countryCode, price: moneyToNumber(price) })),
  }
}

const presentSteps = (steps: TariffStep[]) =>
  steps.map(({ from, price, priceMauBatch }) => ({
    from,
    price: moneyToNumber(price),
    priceMauBatch: priceMauBatch === null ? null : moneyToNumber(priceMauBatch),
  }))

export const present = (tariff: Tariff & Partial<Pick<DatedTariff, 'validFrom' | 'until'>>) => ({
  tariffId: tariff.tariffId,
  partnerId: tariff.partnerId,
  senderType: tariff.senderType,
  brand: tariff.brand as (typeof brands)[number] | null,
  trafficType: tariff.trafficType,
  pricingModel: tariff.pricingModel,
  currency: tariff.currency,
  steps: presentSteps(tariff.steps),
  validFrom: tariff.validFrom ?? null,
  until: tariff.until ?? null,
})

const presentDifference = ({ added, replaced, ended, unchanged }: BookDifference) => ({
  added: added.map(presentImported),
  changed: replaced.map(({ before, after }) => ({ before: presentImported(before), after: presentImported(after) })),
  ended: ended.map(presentImported),
  unchanged: unchanged.length,
})

const presentImported = ({ senderType, brand, trafficType, pricingModel, steps }: NewTariff): ImportedTariff => ({
  senderType,
  brand,
  trafficType,
  pricingModel,
  steps: presentSteps(steps),
})
