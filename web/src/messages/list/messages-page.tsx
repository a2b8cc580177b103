import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { Blank } from '../../parts/pages/blank.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { messagesQuery, type Page, reportAddress, useChosenCompany } from '../messages.ts'
import { isEmptySearch, type MessageSearch, readTyped, withoutOpen } from '../search.ts'
import { FilterChips } from './filter-chips.tsx'
import { IncomingHint } from './incoming-hint.tsx'
import { MessageList } from './message-list.tsx'
import { MessagePanel } from './message-panel.tsx'
import styles from './messages.module.css'
import { useSavedSearches } from './saved-searches.ts'
import { SearchBox } from './search-box.tsx'
import { SaveDialog, SearchTabs } from './search-tabs.tsx'
import { useListKeys } from './use-list-keys.ts'

/** The screen is wide enough for a panel beside the list. */
const WIDE = '(min-width: 1181px)'

/** A search field, filters and the found messages. A message opens beside the list. */
export function MessagesPage() {
  const { say, language } = useWords()
  const search = useSearch({ from: '/shell/messages' })
  const { saved, isFull, save, forget } = useSavedSearches()
  const [isSaving, setIsSaving] = useState(false)
  const navigate = useNavigate({ from: '/messages' })
  const change = useCallback(
    (changed: Partial<MessageSearch>) =>
      void navigate({ to: '/messages', search: before => ({ ...before, open: undefined, ...changed }) }),
    [navigate],
  )
  const type = useCallback((typed: string) => change(readTyped(typed, new Date())), [change])
  const company = useChosenCompany()
  const found = useInfiniteQuery(messagesQuery(search, company))
  const items = found.data?.pages.flatMap(page => page.items) ?? []
  const dispatchName = items.find(({ dispatchId }) => dispatchId === search.dispatch)?.dispatchName ?? undefined
  const isAtAnyTime = search.dispatch !== undefined || (found.data?.pages[0]?.by ?? 'period') !== 'period'
  return (
    <>
      <PageHead
        title={say('messages.title')}
        actions={
          <>
            {items.length > 0 && (
              <Button
                component="a"
                href={reportAddress(search, company, language)}
                download
                leftSection={<Icon name="download" />}
              >
                {say('messages.csv')}
              </Button>
            )}
            {!isEmptySearch(search) && !isFull && (
              <Button leftSection={<Icon name="star" />} onClick={() => setIsSaving(true)}>
                {say('messages.save')}
              </Button>
            )}
          </>
        }
      />
      <SearchTabs search={search} saved={saved} onForget={forget} />
      <SearchBox value={search.q ?? ''} onSearch={type} />
      <FilterChips search={search} dispatchName={dispatchName} isAtAnyTime={isAtAnyTime} onChange={change} />
      <IncomingHint search={search} isAnswered={found.isSuccess && !found.isPlaceholderData} />
      {found.data ? (
        <Results search={search} query={found} onChange={change} />
      ) : found.error ? (
        <ErrorState error={found.error} onRetry={found.refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
      {isSaving && <SaveDialog onSave={name => save(name, withoutOpen(search))} onClose={() => setIsSaving(false)} />}
    </>
  )
}

type Query = ReturnType<typeof useInfiniteQuery<Page>> & { data?: unknown }
type ResultsProps = {
  search: MessageSearch
  query: Pick<Query, 'fetchNextPage' | 'isFetchingNextPage' | 'isPlaceholderData'> & {
    data: { pages: Page[] } | undefined
  }
  onChange(change: Partial<MessageSearch>): void
}

function Results({ search, query, onChange }: ResultsProps) {
  const isWide = useMediaQuery(WIDE, window.matchMedia(WIDE).matches) ?? false
  const company = useChosenCompany()
  const showsCompany = useMe().kind !== 'COMPANY' && company === undefined
  const pages = query.data?.pages ?? []
  const items = pages.flatMap(page => page.items)
  const openUuid = isWide ? search.open : undefined
  const open = (uuid: string | undefined) => {
    if (isWide) onChange({ open: uuid })
    return isWide
  }
  const { step } = useListKeys(
    items.map(({ uuid }) => uuid),
    openUuid,
    open,
  )
  const last = pages.at(-1)
  if (!last) return null
  if (items.length === 0) return <Nothing search={search} page={last} query={query} onChange={onChange} />
  return (
    <div className={`${styles.split} ${openUuid ? styles.withPanel : ''} ${query.isPlaceholderData ? styles.old : ''}`}>
      <div>
        <MessageList items={items} openUuid={openUuid} showsCompany={showsCompany} onOpen={open} />
        <Foot count={items.length} last={last} query={query} search={search} />
      </div>
      {openUuid && <MessagePanel uuid={openUuid} onStep={step} onClose={() => open(undefined)} />}
    </div>
  )
}

/** The number of found messages, the search, and advice to find more. */
function Foot({ count, last, query, search }: { count: number; last: Page } & Pick<ResultsProps, 'query' | 'search'>) {
  const { say } = useWords()
  const hasMore = last.older !== null
  return (
    <div className={styles.foot}>
      <div>
        <p>
          {say(hasMore ? 'messages.first' : 'messages.found', { count })}. <Reach search={search} page={last} />.
        </p>
        <Cut page={last} />
      </div>
      {hasMore && (
        <Button onClick={() => query.fetchNextPage()} loading={query.isFetchingNextPage}>
          {say(last.cutAt ? 'messages.goOn' : 'messages.older')}
        </Button>
      )}
      <span className={styles.keys}>
        <kbd>J</kbd>
        <kbd>K</kbd> {say('messages.keys')} <kbd>↵</kbd> {say('messages.keys.open')}
      </span>
    </div>
  )
}

function Cut({ page: { cutAt } }: { page: Page }) {
  const { say } = useWords()
  const { moment } = useFormats()
  return cutAt ? <p className={styles.cutNote}>{say('messages.cut', { time: moment(cutAt) })}</p> : null
}

/** The search in words. */
function Reach({ search, page: { by, from, to } }: { search: MessageSearch; page: Page }) {
  const { say } = useWords()
  const { moment } = useFormats()
  const isWhole = from === null && to === null
  if (isWhole && by === 'number') return say('messages.by.number')
  if (isWhole && by === 'beginning') return say('messages.by.beginning')
  if (isWhole) return say('messages.by.id')
  if (by === 'period' && search.dispatch !== undefined && !search.period && !search.from)
    return say('messages.by.dispatch')
  return say('messages.by.period', { from: from ? moment(from) : '…', to: moment(to ?? new Date()) })
}

function Nothing({ search, page, query, onChange }: ResultsProps & { page: Page }) {
  const { say } = useWords()
  const isEmpty = isEmptySearch(search)
  const isByPeriod = page.by === 'period'
  const mayWiden = isByPeriod && search.period !== 'week' && search.period !== 'month' && search.dispatch === undefined
  return (
    <Blank
      drawing="bird"
      title={say(isEmpty ? 'messages.empty.title' : 'messages.none.title')}
      text={say(isEmpty ? 'messages.empty.text' : isByPeriod ? 'messages.none.text' : 'messages.none.ever')}
    >
      {page.cutAt ? (
        <>
          <Cut page={page} />
          <Button onClick={() => query.fetchNextPage()} loading={query.isFetchingNextPage}>
            {say('messages.goOn')}
          </Button>
        </>
      ) : (
        mayWiden && (
          <Button onClick={() => onChange({ period: 'week', from: undefined, to: undefined })}>
            {say('messages.week')}
          </Button>
        )
      )}
    </Blank>
  )
}
