import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { BoneRows } from '../parts/lists/bones.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import styles from './audit.module.css'
import { auditQuery, type Entry, useFilter } from './audit.ts'
import { AuditFilters } from './audit-filters.tsx'
import { AuditTable } from './audit-table.tsx'

/** The audit log of the chosen company. Without a chosen company: of all companies that the viewer may see. */
export function AuditPage() {
  const { say } = useWords()
  const { company, filter } = useFilter()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    auditQuery(company, filter),
  )
  const entries = data?.pages.flatMap(page => page.entries)
  return (
    <>
      <PageHead title={say('audit.title')} note={say('audit.note')} />
      <AuditFilters whats={data?.pages[0]?.whats ?? (filter.what ? [filter.what] : [])} />
      {entries ? <Found entries={entries} /> : error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows />}
      {hasNextPage && (
        <Button className={styles.older} onClick={() => fetchNextPage()} loading={isFetchingNextPage}>
          {say('audit.older')}
        </Button>
      )}
    </>
  )
}

function Found({ entries }: { entries: Entry[] }) {
  const { say } = useWords()
  const { filter, change } = useFilter()
  if (entries.length > 0) return <AuditTable entries={entries} />
  if (Object.values(filter).every(value => value === undefined))
    return <Blank drawing="bird" title={say('audit.empty.title')} text={say('audit.empty.text')} />
  return (
    <Blank drawing="lost" title={say('audit.nothing.title')} text={say('audit.nothing.text')}>
      <Button onClick={() => change(noFilter)}>{say('audit.clear')}</Button>
    </Blank>
  )
}

const noFilter = { person: undefined, what: undefined, subject: undefined, from: undefined, to: undefined }
