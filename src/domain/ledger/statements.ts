import type { ChannelType } from '../../base/channel-types.ts'
import { notFound } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { type Brand, brandOf } from '../numbering/brand.ts'
import { tariffsByIds } from '../pricing/pricing.ts'
import type { Tariff } from '../pricing/tariff.ts'
import * as store from './statement-store.ts'

/** A month of the ledger: payments, corrections, charges, and the balance before and after. */
export type StatementMonth = store.MonthSums & { opening: Money }

type Counted = { messages: number; parts: number; amount: Money }

/** `operator` is null for other operators; it is absent where the operator of a number carries nothing. */
export type ChannelLine = Counted & { channelType: ChannelType; operator?: Brand | null }

/** Without a tariff, the price is that of the channel or of the country. */
export type TariffLine = Counted & { tariff: Omit<Tariff, 'steps'> | null; packages: Money }

/** Each list adds up to `spent`, together with the packages, fees and charges without details that it does not contain. */
export type Statement = StatementMonth & {
  channels: ChannelLine[]
  tariffs: TariffLine[]
  packages: Money
  fees: { amount: Money; count: number; lines: store.FeeLine[] }
  topUps: store.EntryLine[]
  /** With their sign. */
  corrections: store.EntryLine[]
  /** Charged before the ledger kept channel, operator and tariff. */
  withoutDetails: Money
}

/** Of every month from the first movement to the month `until`. */
export async function listStatements(sql: Sql, companyId: number, until: string): Promise<StatementMonth[]> {
  return (await store.selectMonths(sql, companyId, until)).map(withOpening)
}

const withOpening = (sums: store.MonthSums): StatementMonth => ({
  ...sums,
  opening: sums.closing - sums.toppedUp - sums.corrected + sums.spent,
})

/** Longer lists end with how many there are; the sums count all of them. */
const MOST_LINES = 200

export async function statementOf(sql: Sql, companyId: number, month: string): Promise<Statement> {
  const [months, shares, topUps, corrections, feeLines] = await Promise.all([
    listStatements(sql, companyId, month),
    store.selectShares(sql, companyId, month),
    store.selectEntriesOfKind(sql, companyId, 'TOPUP', month, MOST_LINES),
    store.selectEntriesOfKind(sql, companyId, 'CORRECTION', month, MOST_LINES),
    store.selectFees(sql, companyId, month, MOST_LINES),
  ])
  const sums = months.find(one => one.month === month)
  if (!sums) throw notFound('Statement')
  const detailed = shares.filter(({ kind, channelType }) => kind === 'MESSAGES' && channelType !== null)
  const packages = shares.filter(({ kind }) => kind === 'MAU_PACKAGE')
  const fees = shares.filter(({ kind }) => kind === 'SENDER_FEE')
  const known = total(detailed) + total(packages) + total(fees)
  return {
    ...sums,
    channels: channelLines(detailed),
    tariffs: await tariffLines(sql, detailed, packages),
    packages: total(packages),
    fees: { amount: total(fees), count: counted(fees).messages, lines: feeLines },
    topUps,
    corrections,
    withoutDetails: sums.spent - known,
  }
}

const total = (shares: { amount: Money }[]): Money => shares.reduce((sum, { amount }) => sum + amount, 0n)

const counted = (shares: store.ShareSums[]): Counted => ({
  messages: shares.reduce((sum, { messages }) => sum + messages, 0),
  parts: shares.reduce((sum, { parts }) => sum + parts, 0),
  amount: total(shares),
})

/** SMS by operator; other channels as a whole. The largest amounts first, the operators of SMS together. */
export function channelLines(shares: Pick<store.ShareSums, keyof store.ShareSums>[]): ChannelLine[] {
  const channels = [...Map.groupBy(shares, ({ channelType }) => channelType!)].sort(byAmount)
  return channels.flatMap(([channelType, ofChannel]): ChannelLine[] => {
    if (channelType !== 'SMS') return [{ channelType, ...counted(ofChannel) }]
    const operators = [...Map.groupBy(ofChannel, ({ brandId }) => brandId!)].sort(byAmount)
    return operators.map(([brandId, same]) => ({ channelType, operator: brandOf(brandId) ?? null, ...counted(same) }))
  })
}

const byAmount = ([, a]: [unknown, store.ShareSums[]], [, b]: [unknown, store.ShareSums[]]) =>
  Number(total(b) - total(a))

async function tariffLines(sql: Sql, messages: store.ShareSums[], packages: store.ShareSums[]): Promise<TariffLine[]> {
  const ofTariffs = [...Map.groupBy([...messages, ...packages], ({ tariffId }) => tariffId)].sort(byAmount)
  const ids = ofTariffs.flatMap(([tariffId]) => tariffId ?? [])
  const tariffs = new Map((await tariffsByIds(sql, ids)).map(tariff => [tariff.tariffId, tariff]))
  return ofTariffs.map(([tariffId, same]) => {
    const { steps: _, ...tariff } = (tariffId === null ? undefined : tariffs.get(tariffId)) ?? { steps: [] }
    return {
      tariff: 'tariffId' in tariff ? tariff : null,
      ...counted(same.filter(({ kind }) => kind === 'MESSAGES')),
      packages: total(same.filter(({ kind }) => kind === 'MAU_PACKAGE')),
    }
  })
}
