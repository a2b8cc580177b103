import { Link } from '@tanstack/react-router'
import { useSign } from '../new-dispatch/amounts.ts'
import { Section } from '../parts/content/section.tsx'
import { useIsDrawn } from '../parts/first-drawing.ts'
import type { Column } from '../parts/lists/columns.ts'
import { Cell, ListTable } from '../parts/lists/list-table.tsx'
import table from '../parts/lists/table.module.css'
import { brandNames } from '../parts/names/operator-names.ts'
import { useWords } from '../words/words.ts'
import { senderTypeNames, trafficTypeNames, useTariffFormats, useTariffNames } from './names.ts'
import styles from './tariffs.module.css'
import { holdsNow, placeKey, type Tariff } from './tariffs.ts'

type Props = { tariffs: Tariff[]; zone: string; isLinked?: boolean }

/** Prices of SMS to Russian numbers, by sender type. */
export function TariffTables({ tariffs, zone, isLinked = false }: Props) {
  const names = useTariffNames()
  const { say } = useWords()
  const isDrawn = useIsDrawn() // the first table fills a screen
  const notes = { COMMON: say('tariffs.note.COMMON'), START: say('tariffs.note.START'), PRO: say('tariffs.note.PRO') }
  const present = senderTypeNames.filter(senderType => tariffs.some(tariff => tariff.senderType === senderType))
  return present.slice(0, isDrawn ? present.length : 1).map(senderType => {
    const rows = rowsOf(tariffs.filter(tariff => tariff.senderType === senderType))
    const [first] = rows
    if (!first) return null
    return (
      <Section key={senderType} title={names.senderType(senderType)} note={notes[senderType]}>
        <TariffTable rows={rows} currency={first.tariff.currency} zone={zone} isLinked={isLinked} />
      </Section>
    )
  })
}

/** The valid tariff of a place, or the planned one if none is valid yet, and its next change. */
type Row = { tariff: Tariff; next: Tariff | undefined; isPlanned: boolean }

function rowsOf(tariffs: Tariff[]): Row[] {
  const places = [...new Set(tariffs.map(placeKey))]
  const rows = places.flatMap(place => rowOf(tariffs.filter(tariff => placeKey(tariff) === place)))
  return rows.sort((a, b) => orderOf(a.tariff) - orderOf(b.tariff))
}

function rowOf(ofPlace: Tariff[]): Row | [] {
  const inOrder = ofPlace.toSorted((a, b) => startOf(a) - startOf(b))
  const current = inOrder.find(tariff => holdsNow(tariff))
  if (current) return { tariff: current, next: inOrder[inOrder.indexOf(current) + 1], isPlanned: false }
  const [planned] = inOrder
  return planned ? { tariff: planned, next: undefined, isPlanned: true } : []
}

const startOf = ({ validFrom }: Tariff) => (validFrom === null ? 0 : Date.parse(validFrom))

const brandOrder = [...brandNames, null]
const trafficOrder = [...trafficTypeNames, null]

const orderOf = ({ brand, trafficType }: Tariff) =>
  brandOrder.indexOf(brand) * trafficOrder.length + trafficOrder.indexOf(trafficType)

type TableProps = { rows: Row[]; currency: string; zone: string; isLinked: boolean }

function TariffTable({ rows, currency, zone, isLinked }: TableProps) {
  const { say } = useWords()
  const sign = useSign(currency)
  const names = useTariffNames()
  const columns: Column<Row>[] = [
    { id: 'operator', head: say('tariffs.operator'), card: table.title },
    { id: 'traffic', head: say('tariffs.traffic'), by: ({ tariff }) => names.trafficType(tariff.trafficType) },
    { id: 'model', head: say('tariffs.model'), by: ({ tariff }) => names.model(tariff.pricingModel) },
    {
      id: 'price',
      head: say('tariffs.pricePerPart', { sign }),
      className: table.number,
      card: table.corner,
      by: ({ tariff }) => Math.max(...tariff.steps.map(({ price }) => price)),
    },
    {
      id: 'from',
      head: say('tariffs.validFrom'),
      className: table.number,
      by: ({ tariff }) => tariff.validFrom && Date.parse(tariff.validFrom),
    },
  ]
  return (
    <ListTable name="tariffs" className={`${table.table} ${styles.tariffs}`} columns={columns} rows={rows}>
      {row => <TariffRow key={row.tariff.tariffId} row={row} zone={zone} isLinked={isLinked} />}
    </ListTable>
  )
}

type RowProps = { row: Row; zone: string; isLinked: boolean }

function TariffRow({ row: { tariff, next, isPlanned }, zone, isLinked }: RowProps) {
  const { say } = useWords()
  const names = useTariffNames()
  const { span, since } = useTariffFormats(zone)
  const operator = names.brand(tariff.brand)
  return (
    <tr>
      <Cell of="operator">
        <span className={table.main}>
          {isLinked ? (
            <Link
              to="/tariffs/$tariffId"
              params={{ tariffId: tariff.tariffId }}
              className={styles.rowLink}
              aria-label={names.place(tariff)}
            >
              {operator}
            </Link>
          ) : (
            operator
          )}
        </span>
      </Cell>
      <Cell of="traffic" className={tariff.trafficType === null && table.dim}>
        {names.trafficType(tariff.trafficType)}
      </Cell>
      <Cell of="model">{names.model(tariff.pricingModel)}</Cell>
      <Cell of="price">
        {span(tariff.steps)}
        {next && (
          <span className={table.sub}>
            {say('tariffs.next', { price: span(next.steps), day: since(next.validFrom) })}
          </span>
        )}
      </Cell>
      <Cell of="from" className={tariff.validFrom === null && table.dim}>
        {isPlanned ? say('tariffs.planned', { day: since(tariff.validFrom) }) : since(tariff.validFrom)}
      </Cell>
    </tr>
  )
}
