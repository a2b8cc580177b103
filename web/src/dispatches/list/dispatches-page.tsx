import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Icon } from '../../parts/content/icon.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { Blank } from '../../parts/pages/blank.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { type ListSearch, listQuery } from '../dispatches.ts'
import { useLive } from '../live.ts'
import { DispatchFilters, StatusTabs } from './dispatch-filters.tsx'
import { DispatchTable } from './dispatch-table.tsx'
import styles from './dispatches.module.css'

/** Dispatches of the chosen company or of all companies. Running dispatches change live. */
export function DispatchesPage() {
  const { say } = useWords()
  const { company, ...search } = useSearch({ from: '/shell/dispatches' })
  const { data, error, refetch } = useQuery(listQuery(company, search))
  const { changes } = useLive(moving(data?.items))
  const running = data?.counts?.STARTED ?? 0
  const maySend = useMe().rights.includes('traffic.send')
  const isBlank = data?.items.length === 0 && !isFiltered(search)
  const items = data?.items.map(item => ({ ...item, ...changes.get(item.dispatchId) }))
  return (
    <>
      <PageHead
        title={say('dispatches.title')}
        note={
          data?.counts ? (running > 0 ? say('dispatches.running', { count: running }) : say('dispatches.none')) : ' '
        }
        actions={maySend && <NewDispatchButton />}
      />
      {!isBlank && (
        <>
          <StatusTabs search={search} counts={data?.counts ?? null} />
          <DispatchFilters search={search} />
        </>
      )}
      {items ? (
        items.length > 0 ? (
          <>
            <DispatchTable dispatches={items} isOfAll={company === undefined} />
            <Pages search={search} {...data!} />
          </>
        ) : (
          <Nothing search={search} />
        )
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
    </>
  )
}

function NewDispatchButton() {
  const { say } = useWords()
  return (
    <Button
      variant="filled"
      leftSection={<Icon name="plus" />}
      renderRoot={props => <Link {...props} to="/dispatches/new" />}
    >
      {say('new.title')}
    </Button>
  )
}

/** Dispatches that can still change. */
const moving = (items: { dispatchId: number; status: string }[] = []) =>
  items.filter(({ status }) => status !== 'COMPLETED').map(({ dispatchId }) => dispatchId)

type PagesProps = { search: ListSearch; items: { dispatchId: number }[]; hasNewer: boolean; hasOlder: boolean }

function Pages({ search, items, hasNewer, hasOlder }: PagesProps) {
  const { say } = useWords()
  if (!hasNewer && !hasOlder) return null
  const newer = { ...search, newerThan: items[0]?.dispatchId, olderThan: undefined }
  const older = { ...search, olderThan: items.at(-1)?.dispatchId, newerThan: undefined }
  return (
    <nav className={styles.pages} aria-label={say('app.pages')}>
      {hasNewer && (
        <Button
          renderRoot={props => <Link {...props} to="/dispatches" search={newer} />}
          leftSection={<Icon name="back" />}
        >
          {say('dispatches.newer')}
        </Button>
      )}
      {hasOlder && (
        <Button
          renderRoot={props => <Link {...props} to="/dispatches" search={older} />}
          rightSection={<Icon name="right" />}
        >
          {say('dispatches.older')}
        </Button>
      )}
    </nav>
  )
}

const isFiltered = (search: ListSearch) => Object.values(search).some(value => value !== undefined)

function Nothing({ search }: { search: ListSearch }) {
  const { say } = useWords()
  const maySend = useMe().rights.includes('traffic.send')
  const text = say(maySend ? 'dispatches.empty.send' : 'dispatches.empty.text')
  if (!isFiltered(search)) return <Blank drawing="bird" title={say('dispatches.empty.title')} text={text} />
  return (
    <Blank drawing="lost" title={say('dispatches.nothing.title')} text={say('dispatches.nothing.text')}>
      <Button renderRoot={props => <Link {...props} to="/dispatches" search={{}} />}>
        {say('dispatches.nothing.reset')}
      </Button>
    </Blank>
  )
}
