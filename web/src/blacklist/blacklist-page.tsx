import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { SearchField } from '../parts/lists/search-field.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { OneCompany, useCompanyId } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { zoneOfReader } from '../words/intl.ts'
import { useWords } from '../words/words.ts'
import { AddDialog } from './add-dialog.tsx'
import styles from './blacklist.module.css'
import { blacklistQuery, type Page, pathOf } from './blacklist.ts'
import { BlacklistTable } from './blacklist-table.tsx'
import { ImportDialog } from './import-dialog.tsx'

/** The list of numbers that the company must not write to. */
export function BlacklistPage() {
  const { say } = useWords()
  const companyId = useCompanyId()
  if (companyId !== undefined) return <Blacklist companyId={companyId} />
  return (
    <>
      <PageHead title={say('blacklist.title')} />
      <OneCompany>{() => null}</OneCompany>
    </>
  )
}

function Blacklist({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { q = '' } = useSearch({ from: '/shell/blacklist' })
  const navigate = useNavigate()
  const mayChange = useMe().rights.includes('settings.change')
  const [task, setTask] = useState<'add' | 'import'>()
  const found = useInfiniteQuery(blacklistQuery(companyId, q))
  const search = (typed: string) =>
    void navigate({ to: '/blacklist', search: before => ({ ...before, q: typed || undefined }), replace: true })
  const first = found.data?.pages[0]
  const isEmpty = first?.total === 0
  return (
    <>
      <PageHead
        title={say('blacklist.title')}
        note={first ? countOf(say, first) : ' '}
        actions={<Actions companyId={companyId} isEmpty={isEmpty} mayChange={mayChange} onTask={setTask} />}
      />
      {!isEmpty && (
        <div className={styles.search}>
          <SearchField
            label={say('blacklist.search')}
            clear={say('blacklist.clear')}
            value={q}
            maxLength={32}
            onSearch={search}
          />
        </div>
      )}
      {found.data ? (
        <Found
          companyId={companyId}
          query={found}
          pages={found.data.pages}
          q={q}
          mayChange={mayChange}
          onSearch={search}
        />
      ) : found.error ? (
        <ErrorState error={found.error} onRetry={found.refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
      {task === 'add' && <AddDialog companyId={companyId} onClose={() => setTask(undefined)} />}
      {task === 'import' && <ImportDialog companyId={companyId} onClose={() => setTask(undefined)} />}
    </>
  )
}

type Say = ReturnType<typeof useWords>['say']

function countOf(say: Say, { total, isMore }: Page) {
  return isMore ? say('blacklist.countMore', { total }) : say('blacklist.count', { count: total })
}

type ActionsProps = { companyId: number; isEmpty: boolean; mayChange: boolean; onTask(task: 'add' | 'import'): void }

function Actions({ companyId, isEmpty, mayChange, onTask }: ActionsProps) {
  const { say, language } = useWords()
  const query = { language, zone: zoneOfReader() }
  const file = new URL(`api${pathOf(companyId, '/export', query)}`, document.baseURI).href
  return (
    <>
      {!isEmpty && (
        <Button component="a" href={file} download leftSection={<Icon name="download" />}>
          {say('blacklist.export')}
        </Button>
      )}
      {mayChange && (
        <>
          <Button onClick={() => onTask('import')}>{say('blacklist.import')}</Button>
          <Button variant="filled" leftSection={<Icon name="plus" />} onClick={() => onTask('add')}>
            {say('blacklist.add')}
          </Button>
        </>
      )}
    </>
  )
}

type FoundProps = {
  companyId: number
  pages: Page[]
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown }
  q: string
  mayChange: boolean
  onSearch(q: string): void
}

function Found({ companyId, pages, query, q, mayChange, onSearch }: FoundProps) {
  const { say } = useWords()
  const items = pages.flatMap(page => page.items)
  if (items.length === 0 && q === '')
    return <Blank drawing="bird" title={say('blacklist.empty.title')} text={say('blacklist.empty.text')} />
  if (items.length === 0)
    return (
      <Blank drawing="lost" title={say('blacklist.none.title')} text={say('blacklist.none.text')}>
        <Button onClick={() => onSearch('')}>{say('blacklist.clear')}</Button>
      </Blank>
    )
  return (
    <>
      <BlacklistTable companyId={companyId} entries={items} mayChange={mayChange} />
      {query.hasNextPage && (
        <Button className={styles.more} onClick={() => query.fetchNextPage()} loading={query.isFetchingNextPage}>
          {say('blacklist.more')}
        </Button>
      )}
    </>
  )
}
