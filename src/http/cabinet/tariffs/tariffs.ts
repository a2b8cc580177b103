import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { trafficTypes } from '../../../base/channel-types.ts'
import { invalid } from '../../../base/errors.ts'
import { formatMoney, type Money, moneyToNumber } from '../../../base/money.ts'
import type { Sql } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import { requireCompanyWithin } from '../../../domain/companies/companies.ts'
import { monthOf } from '../../../domain/ledger/account.ts'
import { brands } from '../../../domain/numbering/brand.ts'
import { requirePartner } from '../../../domain/partners/partners.ts'
import { readAmount } from '../../../domain/pricing/amount.ts'
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
} from '../../../domain/pricing/book.ts'
import { greatestVolumes, volumeOf } from '../../../domain/pricing/calculation.ts'
import {
  checkTariffs,
  readTariff,
  readTariffFile,
  type TariffRow,
  writeTariffFile,
} from '../../../domain/pricing/imports.ts'
import { isPriceFile, readPriceFile } from '../../../domain/pricing/other-price.ts'
import { changePrices, openPrices, priceDifference, versionOfPrices } from '../../../domain/pricing/other-prices.ts'
import { changeSenderFee, currentTariffs, listSenderFees } from '../../../domain/pricing/pricing.ts'
import {
  type DatedTariff,
  placeKey,
  pricingModels,
  type Tariff,
  type TariffPlace,
  type TariffStep,
} from '../../../domain/pricing/tariff.ts'
import { senderTypes } from '../../../domain/senders/sender.ts'
import { Id, Nullable, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { OfCompany } from '../company-scope.ts'
import { asFile } from '../reports/file-sender.ts'
import { otherPrices, type PriceImport, presentPriceDifference, pricedCountries } from './other-prices.ts'
import { AmountText, asked, Day, firstDay } from './tariff-schemas.ts'

const Version = Type.String({ minLength: 1, maxLength: 40 })

/** The owner of the tariffs. Without a partner, the general tariffs. */
const OfBook = Type.Object({ partnerId: Type.Optional(Id) })
const ByTariff = Type.Object({ tariffId: Id })

const Change = Type.Object({
  partnerId: Type.Optional(Id),
  senderType: OneOf(senderTypes),
  brand: Type.Union([Type.Null(), OneOf(brands)]),
  trafficType: Type.Union([Type.Null(), OneOf(trafficTypes)]),
  /** Null for a change at once. */
  from: Nullable(Day),
  /** The versions of the tariffs with this key that the person saw. Empty if there was no tariff. */
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
  /** Ends the tariffs that the file does not contain. */
  replaces: Type.Boolean(),
})
const CheckedImport = Type.Object({ ...Import.properties, version: Version })
type CheckedImport = Type.Static<typeof CheckedImport>

const FeeChange = Type.Object({ brand: OneOf(brands), before: Type.Number(), value: AmountText })

/** Types of requests and answers, which the page imports. */
export type TariffChange = Type.Static<typeof Change>
export type TariffsImport = Type.Static<typeof Import>
export type SenderFeeChange = Type.Static<typeof FeeChange>
export type ListedTariff = ReturnType<typeof present>
export type TariffsAnswer = {
  books: { partnerId: number; login: string; hasOwn: boolean }[]
  partner: { partnerId: number; login: string } | null
  tariffs: ListedTariff[]
  /** The time zone of the days. */
  zone: string
  /** Codes of countries that can have their own price. */
  pricedCountries: string[]
} & Awaited<ReturnType<typeof otherPrices>>
/** `volumes`: the volume of the month, for the chosen company or for the companies with the largest volume. */
export type TariffAnswer = {
  tariff: ListedTariff
  partner: { partnerId: number; login: string } | null
  /** The current tariff with this key, and the planned ones. For an ended tariff, its successors. */
  periods: ListedTariff[]
  earlier: ListedTariff[]
  version: string
  zone: string
  volumes: { companyId: number; name: string; count: number }[]
}
type ImportPlace = { senderType: string; brand: string | null; trafficType: string | null }
type ImportedTariff = ImportPlace & { pricingModel: string; steps: ListedTariff['steps'] }
/** A file contains tariffs, or prices of other channels and countries. */
export type ImportAnswer = (PriceImport | TariffImport) & { wrong: string[]; version: string }
type TariffImport = {
  kind: 'tariffs'
  added: ImportedTariff[]
  changed: { before: ImportedTariff; after: ImportedTariff }[]
  ended: ImportedTariff[]
  unchanged: number
}

/** Tariffs and fees, for staff. */
export const tariffRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    tariffReadRoutes(api, context)
    tariffChangeRoutes(api, context)
    tariffFileRoutes(api, context)
    feeRoutes(api, context)
  }

/** Lists tariffs, and reads one with its volumes. */
function tariffReadRoutes(api: CabinetApi, { sql, clock, billingZone }: CabinetContext) {
  const volumeIn = async ({ companyId, name }: { companyId: number; name: string }, tariff: Tariff, month: string) => ({
    companyId,
    name,
    count: await volumeOf(sql, companyId, tariff, month),
  })

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
        pricedCountries,
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
}

/** Changes one tariff, at once or from a day on. */
function tariffChangeRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql } = context

  api.post(
    '/tariffs/changes',
    { config: { needs: 'tariffs.change' }, schema: { body: Change } },
    async ({ actor, body }, reply) => {
      const owner = await ownerOf(sql, body)
      const { senderType, brand, trafficType } = body
      const version = body.version || versionOf([])
      const place = { senderType, brand, trafficType }
      const tariff = body.tariff && asked(() => readTariff({ ...place, ...body.tariff! }, 'tariff'))
      const from = startOf(context, body.from)
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

  /** Cancels a planned change before its day. */
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
}

/** Imports and exports tariffs. */
function tariffFileRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql } = context

  /** The changes that an import would make. */
  api.post(
    '/tariffs/import/check',
    { config: { needs: 'tariffs.change' }, schema: { body: Import } },
    async ({ body }): Promise<ImportAnswer> => {
      const owner = await ownerOf(sql, body)
      return isPriceFile(body.text) ? checkPriceImport(context, owner, body) : checkTariffImport(context, owner, body)
    },
  )

  api.post(
    '/tariffs/import',
    { config: { needs: 'tariffs.change' }, schema: { body: CheckedImport } },
    async ({ actor, body }, reply) => {
      const owner = await ownerOf(sql, body)
      await (isPriceFile(body.text) ? importPrices : importTariffs)(context, actor, owner, body)
      return reply.code(204).send()
    },
  )

  /** The current tariffs, as a file that can be imported again. */
  api.get(
    '/tariffs/export',
    { config: { needs: 'tariffs.see' }, schema: { querystring: OfBook } },
    async ({ query }, reply) => {
      const owner = await ownerOf(sql, query)
      const text = writeTariffFile(await currentTariffs(sql, owner.partnerId))
      return asFile(reply, `tariffs-${owner.partnerId ?? 'general'}`, 'csv').send(text)
    },
  )
}

async function checkTariffImport(context: CabinetContext, owner: Owner, file: TariffsImport): Promise<ImportAnswer> {
  const { tariffs, wrong } = asked(() => checkTariffs(readTariffFile(file.text)))
  const book = await openBook(context.sql, owner.partnerId)
  const from = startOf(context, file.from) ?? context.clock()
  const ended = file.replaces ? notNamed(book, tariffs) : []
  return { ...presentDifference(differenceOf(book, { tariffs, ended }, from)), wrong, version: versionOf(book) }
}

async function importTariffs(context: CabinetContext, actor: Actor, owner: Owner, file: CheckedImport) {
  const { tariffs, wrong } = asked(() => checkTariffs(readTariffFile(file.text)))
  refuseMistakes(wrong)
  const from = startOf(context, file.from)
  await context.sql.begin(async tx => {
    const ended = file.replaces ? notNamed(await openBook(tx, owner.partnerId), tariffs) : []
    const done = await changeBook(tx, owner, { tariffs, ended, from, version: file.version })
    await recordChange(tx, actor, {
      what: 'tariffs.imported',
      subject: { kind: 'tariffs', id: loginOf(owner) ?? 'general' },
      partnerId: owner.partnerId,
      after: { ...countsOf(done), ...(from ? { from } : {}) },
    })
  })
}

async function checkPriceImport(context: CabinetContext, owner: Owner, file: TariffsImport): Promise<ImportAnswer> {
  refusePricesOf(owner)
  const { prices, wrong } = asked(() => readPriceFile(file.text))
  const known = await openPrices(context.sql)
  const from = startOf(context, file.from) ?? context.clock()
  const difference = priceDifference(known, prices, from, file.replaces)
  return { ...presentPriceDifference(difference), wrong, version: versionOfPrices(known) }
}

async function importPrices(context: CabinetContext, actor: Actor, owner: Owner, file: CheckedImport) {
  refusePricesOf(owner)
  const { prices, wrong } = asked(() => readPriceFile(file.text))
  refuseMistakes(wrong)
  const from = startOf(context, file.from)
  await context.sql.begin(async tx => {
    const { version, replaces } = file
    const { added, changed, ended, unchanged } = await changePrices(tx, { prices, from, version }, { replaces })
    const counts = { added: added.length, replaced: changed.length, removed: ended.length, unchanged }
    await recordChange(tx, actor, {
      what: 'tariffs.imported',
      subject: { kind: 'tariffs', id: 'prices' },
      after: { ...counts, ...(from ? { from } : {}) },
    })
  })
}

function refuseMistakes([first]: string[]) {
  if (first !== undefined) throw invalid(`The file has mistakes: ${first}`)
}

const startOf = ({ clock, billingZone }: CabinetContext, day: string | null) => firstDay(day, clock(), billingZone)

/** Changes the fees of sender names. */
function feeRoutes(api: CabinetApi, { sql }: CabinetContext) {
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
}

const MOST_FOR_NAME: Money = 10_000_000_000n

type Owner = BookOwner & { login?: string }

async function ownerOf(sql: Sql, { partnerId }: { partnerId?: number | null }): Promise<Owner> {
  return partnerId ? await requirePartner(sql, partnerId) : GENERAL
}

function refusePricesOf({ partnerId }: Owner) {
  if (partnerId !== null) throw invalid('These prices are the same for every partner: import them as general tariffs')
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
  kind: 'tariffs' as const,
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
