/** A column of a `ListTable`. */
export type Column<Row> = {
  id: string
  head: string
  /** Says what the column has, if its head is empty. */
  label?: string
  /** The class of the head and of the cells. */
  className?: string | undefined
  /** The class of a cell that has a place of its own in a card, so that it needs no label there. */
  card?: string | undefined
  /** The column names the row or has its actions, so that it cannot be hidden. */
  isKept?: boolean
  /** The value that sorts the rows. Only for tables of which the browser has all rows. */
  by?: (row: Row) => Value
}

type Value = string | number | null

/** The ids of the hidden columns. An older version of the page may have stored another format. */
export function readHidden(text: string | null): string[] {
  try {
    const stored: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(stored) ? stored.filter(id => typeof id === 'string') : []
  } catch {
    return []
  }
}

export const withoutHidden = <Row>(columns: Column<Row>[], hidden: string[]) =>
  columns.filter(({ id, isKept }) => isKept || !hidden.includes(id))

export type Order<Row> = { column: Column<Row>; isDown: boolean }

/** Reads `gateways.waiting` or `gateways.-waiting`. `undefined` if it names another table, or no column that sorts. */
export function orderOf<Row>(sort: string | undefined, table: string, columns: Column<Row>[]): Order<Row> | undefined {
  for (const column of columns) {
    if (!column.by) continue
    if (sort === `${table}.${column.id}`) return { column, isDown: false }
    if (sort === `${table}.-${column.id}`) return { column, isDown: true }
  }
  return undefined
}

/**
 * The order after a click on the head of a column: texts from A to Z first and numbers from the greatest, then the
 * opposite, then the order of the server again.
 */
export function nextSort<Row>(table: string, column: Column<Row>, order: Order<Row> | undefined, rows: Row[]) {
  const beginsDown = rows.some(row => typeof column.by?.(row) === 'number')
  const isSorted = order?.column.id === column.id
  if (isSorted && order.isDown !== beginsDown) return undefined
  const isDown = isSorted ? !beginsDown : beginsDown
  return `${table}.${isDown ? '-' : ''}${column.id}`
}

/** Rows without a value come last. Rows with the same value keep their order. */
export function sorted<Row>(rows: Row[], order: Order<Row> | undefined, compare: (a: string, b: string) => number) {
  const by = order?.column.by
  if (!by) return rows
  const direction = order.isDown ? -1 : 1
  return rows.toSorted((rowA, rowB) => {
    const [a, b] = [by(rowA), by(rowB)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return direction * (typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b)))
  })
}
