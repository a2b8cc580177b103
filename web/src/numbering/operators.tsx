import { Button } from '@mantine/core'
import { useState } from 'react'
import { useFormats } from '../format.ts'
import { Section } from '../parts/content/section.tsx'
import table from '../parts/lists/table.module.css'
import { useWords } from '../words/words.ts'
import { useBrand } from './brands.ts'
import styles from './numbering.module.css'
import type { Numbering } from './numbering.ts'

const FIRST = 10

/** The operators with the most numbers. A button shows the others. */
export function Operators({ operators }: Pick<Numbering, 'operators'>) {
  const { say } = useWords()
  const { number } = useFormats()
  const brand = useBrand()
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? operators : operators.slice(0, FIRST)
  return (
    <Section title={say('numbering.operators')} note={say('numbering.operators.note')}>
      <table className={`${table.table} ${styles.operators}`}>
        <thead>
          <tr>
            <th>{say('numbering.operator')}</th>
            <th>{say('numbering.network')}</th>
            <th className={table.number}>{say('numbering.rangeCount')}</th>
            <th className={table.number}>{say('numbering.numbers')}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(operator => (
            <tr key={`${operator.inn} ${operator.name}`}>
              <td className={table.title}>
                <span className={table.main}>{operator.name}</span>
                {operator.inn && <span className={table.sub}>{say('numbering.innOf', { inn: operator.inn })}</span>}
              </td>
              <td data-label={say('numbering.network')} className={operator.brandId === 0 ? table.dim : ''}>
                {operator.brandId === 0 ? '–' : brand(operator.brandId)}
              </td>
              <td data-label={say('numbering.rangeCount')} className={table.number}>
                {number(operator.ranges)}
              </td>
              <td data-label={say('numbering.numbers')} className={table.number}>
                {number(operator.numbers)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < operators.length && (
        <Button className={styles.more} onClick={() => setIsWhole(true)}>
          {say('numbering.operators.all', { count: operators.length - shown.length })}
        </Button>
      )}
    </Section>
  )
}
