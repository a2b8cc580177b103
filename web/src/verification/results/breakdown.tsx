import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import figures from '../../parts/lists/figure-table.module.css'
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
      <Rows first={say('verification.country')} rows={rows.slice(0, MOST_COUNTRIES)} currency={data.currency} />
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
      <Rows first={say('verification.channel')} rows={rows} currency={data.currency} />
    </Section>
  )
}

type Row = { name: string; sums: Sums }

function Rows({ first, rows, currency }: { first: string; rows: Row[]; currency: string }) {
  const { say } = useWords()
  const { sign } = useFormats()
  const hasCost = rows.some(({ sums }) => sums.cost !== null)
  return (
    <table className={figures.table}>
      <thead>
        <tr>
          <th>{first}</th>
          <th>{say('verification.column.sent')}</th>
          <th className={styles.wideOnly}>{say('verification.column.delivered')}</th>
          <th>{say('verification.column.confirmed')}</th>
          {hasCost && <th>{say('verification.column.cost', { sign: sign(currency) })}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <WayRow key={row.name} row={row} currency={hasCost ? currency : undefined} />
        ))}
      </tbody>
    </table>
  )
}

function WayRow({ row: { name, sums }, currency }: { row: Row; currency: string | undefined }) {
  const { number, money } = useFormats()
  const percent = usePercent()
  return (
    <tr>
      <td className={table.main}>{name}</td>
      <td>{number(sums.sent)}</td>
      <td className={styles.wideOnly}>{sums.sent > 0 ? percent(Math.min(1, sums.delivered / sums.sent)) : '–'}</td>
      <td>{sums.sent > 0 ? percent(shareOf(sums)) : '–'}</td>
      {currency && (
        <td>
          {sums.costOfConfirmed === null
            ? '–'
            : money(Number(sums.costOfConfirmed), currency).replace(/\u00a0\D+$/, '')}
        </td>
      )}
    </tr>
  )
}

/** One decimal and no percent sign, which stands in the head of the column. Rounds down, so that 100 means all. */
export function usePercent() {
  const { language } = useWords()
  const format = numberFormat(locales[language], { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  return (share: number) => format(Math.floor(share * 1000 + 1e-9) / 10)
}
