import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFigures } from '../dispatches/figures.ts'
import { useFormats } from '../format.ts'
import { Section } from '../parts/content/section.tsx'
import table from '../parts/lists/table.module.css'
import { useWords } from '../words/words.ts'
import styles from './links.module.css'
import { type ClickedDispatch, clickedDispatchesQuery } from './links.ts'

/** Clicks by dispatch. A row opens the links of its dispatch. */
export function ClickedDispatches({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(clickedDispatchesQuery(companyId))
  const dispatches = data?.pages.flatMap(({ items }) => items) ?? []
  if (dispatches.length === 0) return null
  return (
    <Section title={say('links.dispatches')}>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{say('links.dispatch')}</th>
            <th className={table.number}>{say('links.started')}</th>
            <th className={table.number}>{say('links.clicks')}</th>
            <th className={table.number}>{say('links.people')}</th>
            <th className={table.number}>{say('links.ofDelivered')}</th>
          </tr>
        </thead>
        <tbody>
          {dispatches.map(dispatch => (
            <Row key={dispatch.dispatchId} dispatch={dispatch} />
          ))}
        </tbody>
      </table>
      {hasNextPage && (
        <Button className={styles.more} onClick={() => fetchNextPage()} loading={isFetchingNextPage}>
          {say('links.olderDispatches')}
        </Button>
      )}
    </Section>
  )
}

function Row({ dispatch: { dispatchId, name, startedAt, clicks, people, delivered } }: { dispatch: ClickedDispatch }) {
  const { say } = useWords()
  const { number, moment } = useFormats()
  const { share } = useFigures()
  return (
    <tr>
      <td className={table.title}>
        <Link to="." search={before => ({ ...before, dispatch: dispatchId })} className={table.main}>
          {name}
        </Link>
        <span className={table.sub}>{dispatchId}</span>
      </td>
      <td data-label={say('links.started')} className={table.number}>
        {startedAt ? moment(startedAt) : <span className={table.dim}>–</span>}
      </td>
      <td data-label={say('links.clicks')} className={table.number}>
        {number(clicks)}
      </td>
      <td data-label={say('links.people')} className={table.number}>
        {number(people)}
      </td>
      <td className={`${table.number} ${table.corner}`}>
        {delivered > 0 ? share(Math.min(people, delivered), delivered) : <span className={table.dim}>–</span>}
      </td>
    </tr>
  )
}
