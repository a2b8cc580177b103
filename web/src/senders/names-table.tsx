import { Link } from '@tanstack/react-router'
import { type Brand, brands } from '../../../src/domain/numbering/brand.ts'
import { useAmount, useSign } from '../new-dispatch/amounts.ts'
import { numberOf } from '../new-dispatch/offer.ts'
import type { Column } from '../parts/lists/columns.ts'
import { Cell, ListTable, useShownColumns } from '../parts/lists/list-table.tsx'
import table from '../parts/lists/table.module.css'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { ReviewState } from '../parts/review/review-state.tsx'
import { useWords } from '../words/words.ts'
import styles from './names-table.module.css'
import { bestOf, type Name, type Registration, servesAll } from './senders.ts'

/** The sender names of a company with their review status at each operator. */
export function NamesTable({ names, currency }: { names: Name[]; currency: string }) {
  const { say } = useWords()
  const { operator } = useTrafficNames()
  const sign = useSign(currency)
  const hasFees = names.some(name => name.registrations.some(({ fee }) => fee !== null))
  const columns: Column<Name>[] = [
    { id: 'name', head: say('senders.name'), className: styles.name, card: table.title, isKept: true },
    ...brands.map(brand => ({ id: brand, head: operator(brand), className: styles.state })),
    { id: 'missing', head: say('senders.missing'), className: styles.missing, card: styles.wide },
    ...(hasFees ? [{ id: 'fee', head: say('senders.fee', { sign }), className: table.number }] : []),
  ]
  return (
    <ListTable name="senders" className={`${table.table} ${styles.list}`} columns={columns} rows={names} canChoose>
      {name => <NameRow key={`${name.channelType} ${name.senderName}`} name={name} />}
    </ListTable>
  )
}

function NameRow({ name }: { name: Name }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const amount = useAmount()
  const newest = name.registrations.at(-1)!
  const fee = name.registrations.reduce((sum, one) => sum + (one.fee === null ? 0 : numberOf(one.fee)), 0)
  const types = [...new Set(name.registrations.map(({ commonType }) => say(`senders.type.${commonType}`)))]
  return (
    <tr>
      <Cell of="name">
        <Link
          className={table.main}
          to="/senders/$senderId"
          params={{ senderId: (bestOf(name.registrations) ?? newest).senderId }}
          search={{}}
        >
          {name.senderName}
        </Link>
        <span className={table.sub}>{[channel(name.channelType), ...types].join(' · ')}</span>
      </Cell>
      <States name={name} />
      <Cell of="missing">
        <Missing name={name} />
      </Cell>
      <Cell of="fee" className={fee === 0 && styles.free}>
        {fee > 0 ? amount(fee) : <span className={table.dim}>–</span>}
      </Cell>
    </tr>
  )
}

function States({ name }: { name: Name }) {
  const { say } = useWords()
  const { operator } = useTrafficNames()
  const columns = useShownColumns()
  const shown = brands.filter(brand => columns.some(({ id }) => id === brand))
  const serving = name.registrations.filter(one => servesAll(name, one))
  if (serving.length === name.registrations.length) {
    if (shown.length === 0) return null
    const label = name.channelType === 'SMS' ? say('senders.abroad') : say('senders.all')
    return (
      <td className={`${styles.state} ${styles.wide}`} colSpan={shown.length} data-label={label}>
        <StateLink registration={bestOf(serving)!} label={`${name.senderName}, ${label}`} />
        <span className={`${styles.serves} only-wide`}>{label}</span>
      </td>
    )
  }
  return shown.map(brand => {
    const registration = bestOf(ofBrand(name, brand))
    return (
      <Cell key={brand} of={brand}>
        {registration ? (
          <StateLink registration={registration} label={`${name.senderName}, ${operator(brand)}`} />
        ) : (
          <span className={table.dim}>{say('senders.notRequested')}</span>
        )}
      </Cell>
    )
  })
}

const ofBrand = ({ registrations }: Name, brand: Brand) =>
  registrations.filter(one => one.brand === brand && !one.isInternational)

function StateLink({ registration, label }: { registration: Registration; label: string }) {
  return (
    <Link to="/senders/$senderId" params={{ senderId: registration.senderId }} search={{}} title={label}>
      <ReviewState status={registration.status} suspended={registration.suspended} />
    </Link>
  )
}

/** The next step of the company: correct a rejected name, or request the name for further operators. */
function Missing({ name }: { name: Name }) {
  const { say } = useWords()
  const { operator } = useTrafficNames()
  const back = name.registrations.find(({ status }) => status === 'REJECTED')
  if (back) return say('senders.missing.back', { comment: back.comment ?? '' })
  const isOver = name.registrations.every(({ status }) => status === 'DENIED' || status === 'CLOSED')
  if (isOver || name.registrations.every(one => servesAll(name, one))) return null
  const missing = brands.filter(brand => ofBrand(name, brand).length === 0)
  return missing.length === 0 ? null : say('senders.missing.brands', { brands: missing.map(operator).join(', ') })
}
