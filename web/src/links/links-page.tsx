import { Button, UnstyledButton } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useClicks } from '../dispatches/clicks.ts'
import { dispatchQuery } from '../dispatches/dispatches.ts'
import { DayBars } from '../parts/charts/day-bars.tsx'
import { Icon } from '../parts/content/icon.tsx'
import { Section } from '../parts/content/section.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { SearchField } from '../parts/lists/search-field.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import { ClickedDispatches } from './clicked-dispatches.tsx'
import { LinkDialog } from './link-dialog.tsx'
import styles from './links.module.css'
import { clicksQuery, type LinkSearch, linksQuery } from './links.ts'
import { LinksTable } from './links-table.tsx'

/** The short links of the company with their clicks. */
export function LinksPage() {
  const { say } = useWords()
  return (
    <>
      <PageHead title={say('links.title')} note={say('links.note')} />
      <OneCompany>{companyId => <Links companyId={companyId} />}</OneCompany>
    </>
  )
}

function Links({ companyId }: { companyId: number }) {
  const { company: _, ...search } = useSearch({ from: '/shell/links' })
  const found = useInfiniteQuery(linksQuery(companyId, search))
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = found
  const { say } = useWords()
  const navigate = useNavigate({ from: '/links' })
  const change = (changed: LinkSearch) =>
    void navigate({ to: '/links', search: before => ({ ...before, ...changed }), replace: !changed.open })
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={6} />
  const items = data.pages.flatMap(page => page.items)
  const isFiltered = search.q !== undefined || search.dispatch !== undefined
  if (items.length === 0 && !isFiltered)
    return <Blank drawing="bird" title={say('links.empty.title')} text={say('links.empty.text')} />
  const isCut = data.pages.at(-1)?.isCut === true
  return (
    <>
      {search.dispatch === undefined && (
        <>
          <Clicks companyId={companyId} />
          <ClickedDispatches companyId={companyId} />
        </>
      )}
      <Section title={say('links.list')}>
        <Filters search={search} onChange={change} />
        {items.length > 0 && <LinksTable links={items} />}
        {items.length === 0 && !isCut && (
          <Blank drawing="lost" title={say('links.none.title')} text={say('links.none.text')}>
            <Button onClick={() => change({ q: undefined, dispatch: undefined })}>{say('links.clear')}</Button>
          </Blank>
        )}
        {isCut && <p className={styles.cut}>{say('links.cut')}</p>}
        {hasNextPage && (
          <Button className={styles.more} onClick={() => fetchNextPage()} loading={isFetchingNextPage}>
            {say(isCut ? 'links.goOn' : 'links.older')}
          </Button>
        )}
      </Section>
      {search.open && (
        <LinkDialog companyId={companyId} code={search.open} onClose={() => change({ open: undefined })} />
      )}
    </>
  )
}

function ClicksOfDispatch({ dispatchId }: { dispatchId: number }) {
  const clicks = useQuery(dispatchQuery(dispatchId)).data?.clicks
  const sentence = useClicks()
  return clicks && <span className="note">{sentence(clicks)}</span>
}

function Clicks({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { data } = useQuery(clicksQuery(companyId))
  const total = data?.days.reduce((sum, { clicks }) => sum + clicks, 0)
  return (
    <Section title={say('links.clicks')} note={total === undefined ? ' ' : say('links.clicks.total', { count: total })}>
      <div className={styles.chart}>
        {data && (
          <DayBars
            label={say('links.clicks.label')}
            heads={[say('links.day'), say('links.clicks')]}
            days={data.days.map(({ day, clicks }) => ({ day, value: clicks }))}
          />
        )}
      </div>
    </Section>
  )
}

function Filters({ search, onChange }: { search: LinkSearch; onChange(change: LinkSearch): void }) {
  const { say } = useWords()
  return (
    <div className={styles.filters}>
      <div className={styles.box}>
        <SearchField
          label={say('links.search')}
          clear={say('links.clear')}
          value={search.q ?? ''}
          maxLength={200}
          onSearch={q => onChange({ q: q || undefined })}
        />
      </div>
      {search.dispatch !== undefined && (
        <>
          <UnstyledButton className={styles.chip} onClick={() => onChange({ dispatch: undefined })}>
            {say('links.onlyDispatch', { id: String(search.dispatch) })}
            <Icon name="cross" size={14} />
          </UnstyledButton>
          <ClicksOfDispatch dispatchId={search.dispatch} />
        </>
      )}
    </div>
  )
}
