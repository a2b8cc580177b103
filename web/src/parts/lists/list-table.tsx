import { Menu } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useState } from 'react'
import { useMe } from '../../session.ts'
import { locales, useWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'
import { ButtonMenu } from '../dialogs/button-menu.tsx'
import { useIsNarrow } from '../narrow.ts'
import { type Column, nextSort, type Order, orderOf, readHidden, sorted, withoutHidden } from './columns.ts'
import styles from './list-table.module.css'

type Props<Row> = {
  /** The name of the table in the address and in the storage of the browser. */
  name: string
  className: string | undefined
  columns: Column<Row>[]
  rows: Row[]
  /** How many rows are shown at most: the first of the order. */
  most?: number | undefined
  /** Whether people choose the columns. For tables with many columns. */
  canChoose?: boolean
  /** The `<tr>` of a row, with a `<Cell>` for each column. */
  children(row: Row): ReactNode
}

const ShownColumns = createContext<Column<never>[]>([])
export const useShownColumns = () => useContext(ShownColumns)

/** A table whose columns can be hidden, and sort the rows. On a phone its rows are cards, which show everything. */
export function ListTable<Row>({ name, className, columns, rows, most, canChoose = false, children }: Props<Row>) {
  const { language } = useWords()
  const { sort } = useSearch({ strict: false })
  const isNarrow = useIsNarrow()
  const [hidden, setHidden] = useHiddenColumns(name)
  const shown = canChoose && !isNarrow ? withoutHidden(columns, hidden) : columns
  // A phone shows no heads, so a person could neither see the order nor change it.
  const order = isNarrow ? undefined : orderOf(sort, name, shown)
  const compare = (a: string, b: string) => a.localeCompare(b, locales[language], { numeric: true })
  return (
    <div className={styles.frame}>
      {canChoose && !isNarrow && <Choice columns={columns} hidden={hidden} onChange={setHidden} />}
      <table className={className}>
        <thead>
          <tr>
            {shown.map(column => (
              <Head key={column.id} table={name} column={column} order={order} rows={rows} />
            ))}
          </tr>
        </thead>
        <ShownColumns value={shown}>
          <tbody>{sorted(rows, order, compare).slice(0, most).map(children)}</tbody>
        </ShownColumns>
      </table>
    </div>
  )
}

type CellProps = { of: string; className?: string | false | undefined; children?: ReactNode }

/** A cell of the column with this id. Draws nothing if the column is hidden. */
export function Cell({ of, className, children }: CellProps) {
  const column = useShownColumns().find(({ id }) => id === of)
  if (!column) return null
  const classes = [column.className, column.card, className].filter(Boolean).join(' ')
  return (
    <td className={classes} data-label={(column.card === undefined && column.head) || undefined}>
      {children}
    </td>
  )
}

type HeadProps<Row> = { table: string; column: Column<Row>; order: Order<Row> | undefined; rows: Row[] }

function Head<Row>({ table, column, order, rows }: HeadProps<Row>) {
  const navigate = useNavigate()
  const { id, head, label, className, by } = column
  if (!by)
    return (
      <th className={className} aria-label={label}>
        {head}
      </th>
    )
  const isSorted = order?.column.id === id
  const sort = () => {
    const next = nextSort(table, column, order, rows)
    void navigate({ to: '.', search: (before: object) => ({ ...before, sort: next }) as never, resetScroll: false })
  }
  return (
    <th className={className} aria-sort={isSorted ? (order.isDown ? 'descending' : 'ascending') : undefined}>
      <button type="button" className={styles.sort} onClick={sort}>
        <Icon name="arrow" size={12} />
        {head}
      </button>
    </th>
  )
}

type ChoiceProps<Row> = { columns: Column<Row>[]; hidden: string[]; onChange(hidden: string[]): void }

function Choice<Row>({ columns, hidden, onChange }: ChoiceProps<Row>) {
  const { say } = useWords()
  const label = say('list.columns')
  return (
    <ButtonMenu
      position="bottom-end"
      withInitialFocusPlaceholder={false}
      button={
        <button
          type="button"
          className={styles.choice}
          data-hides={withoutHidden(columns, hidden).length < columns.length || undefined}
          aria-label={label}
          title={label}
        >
          <Icon name="columns" />
        </button>
      }
    >
      <Menu.Label>{label}</Menu.Label>
      {columns.map(
        ({ id, head, isKept }) =>
          !isKept && (
            <Menu.CheckboxItem
              key={id}
              checked={!hidden.includes(id)}
              onChange={isShown => onChange(isShown ? hidden.filter(other => other !== id) : [...hidden, id])}
            >
              {head}
            </Menu.CheckboxItem>
          ),
      )}
    </ButtonMenu>
  )
}

/** The hidden columns of the table, for this person in this browser. */
function useHiddenColumns(table: string) {
  const place = `tidings-columns-${useMe().personId}-${table}`
  const [hidden, setHidden] = useState(() => readHidden(localStorage.getItem(place)))
  const keep = (columns: string[]) => {
    localStorage.setItem(place, JSON.stringify(columns))
    setHidden(columns)
  }
  return [hidden, keep] as const
}
