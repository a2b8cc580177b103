import { NativeSelect } from '@mantine/core'
import { Section } from '../../parts/content/section.tsx'
import table from '../../parts/lists/table.module.css'
import { useWords } from '../../words/words.ts'
import { sourceOf } from '../draft.ts'
import styles from '../new-dispatch.module.css'
import { columnsFor } from '../offer.ts'
import type { DraftUse } from '../use-draft.ts'

const NUMBER = '+'
const UNUSED = ''

/** The use of each column: proposed by its name, changed by the person. */
export function ColumnTable({ use: { draft, change } }: { use: DraftUse }) {
  const { say } = useWords()
  const { number, placeholders } = columnsFor(draft)
  const names = Object.keys(placeholders)
  const useOf = (column: number) =>
    column === number ? NUMBER : (names.find(name => placeholders[name] === column) ?? UNUSED)
  const assign = (column: number, use: string) => {
    const others = Object.fromEntries(
      Object.entries(placeholders).map(([name, place]) => [name, place === column ? -1 : place]),
    )
    const columns = {
      number: use === NUMBER ? column : number === column ? -1 : number,
      placeholders: use === NUMBER || use === UNUSED ? others : { ...others, [use]: column },
    }
    change({ columns, checked: undefined })
  }
  return (
    <Section title={say('new.columns')} note={say('new.columns.note')}>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{say('new.columns.inFile')}</th>
            <th>{say('new.columns.first')}</th>
            <th className={styles.useColumn}>{say('new.columns.usedAs')}</th>
          </tr>
        </thead>
        <tbody>
          {sourceOf(draft).look.columns.map(({ name, samples }, column) => {
            const shown = name || say('new.columns.column', { count: column + 1 })
            return (
              <tr key={column}>
                <td className={`${table.title} ${table.main}`}>{shown}</td>
                <td className={styles.samples}>{samples.join(', ')}</td>
                <td className={styles.whole}>
                  <NativeSelect
                    aria-label={say('new.columns.use', { name: shown })}
                    value={useOf(column)}
                    onChange={({ currentTarget }) => assign(column, currentTarget.value)}
                    data={[
                      { value: NUMBER, label: say('new.columns.number') },
                      ...names.map(one => ({ value: one, label: `{${one}}` })),
                      { value: UNUSED, label: say('new.columns.unused') },
                    ]}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Section>
  )
}
