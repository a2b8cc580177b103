import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import type { Column } from '../../parts/lists/columns.ts'
import figures from '../../parts/lists/figure-table.module.css'
import { Cell, ListTable } from '../../parts/lists/list-table.tsx'
import table from '../../parts/lists/table.module.css'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { numberFormat } from '../../words/intl.ts'
import { locales, useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import { type Sums, useNames, type Verification } from '../verification.ts'
import { shareOf } from './conversion-figures.tsx'

const MOST_COUNTRIES = 10

export function ByCountry({ data }: { data: Verification }) {
  const { say } = useWords()
  const { country } = useNames()
  const rows = data.byCountry.map(sums => ({ name: country(sums.country), sums }))
  const rest = rows.length - MOST_COUNTRIES
  return (
    <Section title={say('verification.byCountry')}>
      <Rows
        name="countries"
        first={say('verification.country')}
        rows={rows}
        currency={data.currency}
        most={MOST_COUNTRIES}
      />
      {rest > 0 && <p className="note small">{say('verification.moreCountries', { count: rest })}</p>}
    </Section>
  )
}

export function ByChannel({ data }: { data: Verification }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const rows = data.byChannel.map(sums => ({ name: channel(sums.channelType), sums }))
  return (
    <Section title={say('verification.byChannel')}>
      <Rows name="channels" first={say('verification.channel')} rows={rows} currency={data.currency} />
    </Section>
  )
}

type Row = { name: string; sums: Sums }

type RowsProps = { name: string; first: string; rows: Row[]; currency: string; most?: number }

function Rows({ name, first, rows, currency, most }: RowsProps) {
  const { say } = useWords()
  const { sign } = useFormats()
  const hasCost = rows.some(({ sums }) => sums.cost !== null)
  const cost = say('verification.column.cost', { sign: sign(currency) })
  const columns: Column<Row>[] = [
    { id: 'name', head: first, by: row => row.name },
    { id: 'sent', head: say('verification.column.sent'), by: ({ sums }) => sums.sent },
    {
      id: 'delivered',
      head: say('verification.column.delivered'),
      className: styles.wideOnly,
      by: ({ sums }) => deliveredShareOf(sums),
    },
    { id: 'confirmed', head: say('verification.column.confirmed'), by: confirmedShareOf },
    ...(hasCost ? [{ id: 'cost', head: cost, by: costOf }] : []),
  ]
  return (
    <ListTable name={name} className={figures.table} columns={columns} rows={rows} most={most}>
      {row => <WayRow key={row.name} row={row} currency={currency} />}
    </ListTable>
  )
}

const deliveredShareOf = ({ sent, delivered }: Sums) => (sent > 0 ? Math.min(1, delivered / sent) : null)

export const confirmedShareOf = ({ sums }: { sums: Sums }) => (sums.sent > 0 ? shareOf(sums) : null)

const costOf = ({ sums: { costOfConfirmed } }: Row) => (costOfConfirmed === null ? null : Number(costOfConfirmed))

function WayRow({ row, currency }: { row: Row; currency: string }) {
  const { number, money } = useFormats()
  const percent = usePercent()
  const [delivered, confirmed, cost] = [deliveredShareOf(row.sums), confirmedShareOf(row), costOf(row)]
  return (
    <tr>
      <Cell of="name" className={table.main}>
        {row.name}
      </Cell>
      <Cell of="sent">{number(row.sums.sent)}</Cell>
      <Cell of="delivered">{delivered === null ? '–' : percent(delivered)}</Cell>
      <Cell of="confirmed">{confirmed === null ? '–' : percent(confirmed)}</Cell>
      <Cell of="cost">{cost === null ? '–' : money(cost, currency).replace(/\u00a0\D+$/, '')}</Cell>
    </tr>
  )
}

/** One decimal and no percent sign, which stands in the head of the column. Rounds down, so that 100 means all. */
export function usePercent() {
  const { language } = useWords()
  const format = numberFormat(locales[language], { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  return (share: number) => format(Math.floor(share * 1000 + 1e-9) / 10)
}
