import { expect, test } from 'vitest'
import { type Column, nextSort, orderOf, readHidden, sorted, withoutHidden } from './columns.ts'

type Row = { name: string; waiting: number | null }

const columns: Column<Row>[] = [
  { id: 'name', head: 'Name', isKept: true, by: row => row.name },
  { id: 'waiting', head: 'Waiting', by: row => row.waiting },
  { id: 'state', head: 'State' },
]
const [name, waiting] = columns as [Column<Row>, Column<Row>]
const rows: Row[] = [
  { name: 'б', waiting: 2 },
  { name: 'a', waiting: null },
  { name: 'c', waiting: 10 },
]
const compare = (a: string, b: string) => a.localeCompare(b)
const namesBy = (sort: string) => sorted(rows, orderOf(sort, 'gateways', columns), compare).map(row => row.name)

test('a broken stored value hides nothing', () => {
  expect(['{', 'null', '{"a":1}', '7', null].map(readHidden)).toEqual([[], [], [], [], []])
  expect(readHidden('["waiting",7,null]')).toEqual(['waiting'])
})

test('the column that names the row cannot be hidden', () => {
  expect(withoutHidden(columns, ['name', 'state', 'unknown']).map(({ id }) => id)).toEqual(['name', 'waiting'])
})

test('rows are sorted by numbers or by texts, both ways, and rows without a value come last', () => {
  expect(namesBy('gateways.waiting')).toEqual(['б', 'c', 'a'])
  expect(namesBy('gateways.-waiting')).toEqual(['c', 'б', 'a'])
  expect(namesBy('gateways.name')).toEqual(['a', 'c', 'б'])
})

test('an address that names another table or no column that sorts keeps the order of the server', () => {
  for (const sort of ['people.name', 'gateways.state', 'gateways.', 'waiting', ''])
    expect(namesBy(sort)).toEqual(['б', 'a', 'c'])
})

test('clicks sort numbers from the greatest and texts from the first letter, then the other way, then not', () => {
  const clicks = (column: Column<Row>) => {
    const sorts: (string | undefined)[] = []
    for (let click = 0; click < 3; click++)
      sorts.push(nextSort('gateways', column, orderOf(sorts.at(-1), 'gateways', columns), rows))
    return sorts
  }
  expect(clicks(waiting)).toEqual(['gateways.-waiting', 'gateways.waiting', undefined])
  expect(clicks(name)).toEqual(['gateways.name', 'gateways.-name', undefined])
})
