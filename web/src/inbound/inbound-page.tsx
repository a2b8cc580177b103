import { Button, NativeSelect } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { SearchField } from '../parts/lists/search-field.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useCompanyId } from '../parts/pages/one-company.tsx'
import { useWords } from '../words/words.ts'
import styles from './inbound.module.css'
import { type InboundSearch, inboundQuery, type Page, periods, reportAddress } from './inbound.ts'
import { InboundFrame, SwitchedOff } from './inbound-head.tsx'
import { InboundTable } from './inbound-table.tsx'

/** The messages of subscribers to the company, the newest first. */
export function InboundPage() {
  const { say, language } = useWords()
  const companyId = useCompanyId()
  const { company: _, ...search } = useSearch({ from: '/shell/inbound' })
  return (
    <InboundFrame
      actions={
        companyId !== undefined && (
          <Button
            component="a"
            href={reportAddress(companyId, search, language)}
            download
            leftSection={<Icon name="download" />}
          >
            {say('inbound.csv')}
          </Button>
        )
      }
    >
      {companyId => <Written companyId={companyId} search={search} />}
    </InboundFrame>
  )
}

type Props = { companyId: number; search: InboundSearch }

function Written({ companyId, search }: Props) {
  const found = useInfiniteQuery(inboundQuery(companyId, search))
  const { data, error, refetch } = found
  const navigate = useNavigate({ from: '/inbound' })
  const change = (changed: InboundSearch) =>
    void navigate({ to: '/inbound', search: before => ({ ...before, ...changed }), replace: true })
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={6} />
  const items = data.pages.flatMap(page => page.items)
  const last = data.pages.at(-1)
  if (!last) return null
  const isFiltered = Object.values(search).some(value => value !== undefined)
  return (
    <>
      {!last.isOn && <SwitchedOff />}
      {(items.length > 0 || isFiltered) && <Filters search={search} page={last} onChange={change} />}
      {items.length > 0 ? (
        <InboundTable messages={items} />
      ) : (
        <Nothing isFiltered={isFiltered} page={last} onChange={change} />
      )}
      {(items.length > 0 || last.cutAt) && <Foot count={items.length} page={last} query={found} />}
    </>
  )
}

type FilterProps = { search: InboundSearch; page: Page; onChange(change: InboundSearch): void }

function Filters({ search, page, onChange }: FilterProps) {
  const { say } = useWords()
  const { date } = useFormats()
  const days = [search.from, search.to].map(day => (day === undefined ? '…' : date(`${day}T12:00:00`)))
  const areDays = search.period === undefined && (search.from !== undefined || search.to !== undefined)
  const names = {
    hour: say('inbound.period.hour'),
    week: say('inbound.period.week'),
    month: say('inbound.period.month'),
    year: say('inbound.period.year'),
  }
  return (
    <div className={styles.filters}>
      <div className={styles.box}>
        <SearchField
          label={say('inbound.search')}
          clear={say('inbound.clear')}
          value={search.q ?? ''}
          maxLength={200}
          onSearch={q => onChange({ q: q || undefined })}
        />
      </div>
      <NativeSelect
        aria-label={say('inbound.period')}
        value={areDays ? 'days' : (search.period ?? '')}
        onChange={({ currentTarget: { value } }) =>
          onChange({ period: periods.find(period => period === value), from: undefined, to: undefined })
        }
      >
        {areDays && <option value="days">{days[0] === days[1] ? days[0] : days.join(' – ')}</option>}
        <option value="">{say(page.by === 'period' ? 'inbound.period.day' : 'inbound.period.any')}</option>
        {periods.map(period => (
          <option key={period} value={period}>
            {names[period]}
          </option>
        ))}
      </NativeSelect>
      {page.centers.length > 1 && (
        <NativeSelect
          aria-label={say('inbound.center')}
          value={search.center ?? ''}
          onChange={({ currentTarget }) => onChange({ center: Number(currentTarget.value) || undefined })}
        >
          <option value="">{say('inbound.center.any')}</option>
          {page.centers.map(({ centerId, name }) => (
            <option key={centerId} value={centerId}>
              {name}
            </option>
          ))}
        </NativeSelect>
      )}
    </div>
  )
}

type FootProps = {
  count: number
  page: Page
  query: { isFetchingNextPage: boolean; fetchNextPage(): unknown }
}

/** The number of found messages, the searched time, and a button for older messages. */
function Foot({ count, page, query }: FootProps) {
  const { say } = useWords()
  const { moment } = useFormats()
  const { older, cutAt, from, to } = page
  return (
    <div className={styles.foot}>
      <p>
        {say(older ? 'inbound.first' : 'inbound.found', { count })}{' '}
        {from && say('inbound.within', { from: moment(from), to: moment(to ?? new Date()) })}
        {cutAt && <span className={styles.cut}> {say('inbound.cut', { time: moment(cutAt) })}</span>}
      </p>
      {older && (
        <Button onClick={() => query.fetchNextPage()} loading={query.isFetchingNextPage}>
          {say(cutAt ? 'inbound.goOn' : 'inbound.older')}
        </Button>
      )}
    </div>
  )
}

function Nothing({ isFiltered, page, onChange }: Omit<FilterProps, 'search'> & { isFiltered: boolean }) {
  const { say } = useWords()
  const isNarrow = page.by === 'period'
  if (!isFiltered) return <Blank drawing="bird" title={say('inbound.empty.title')} text={say('inbound.empty.text')} />
  return (
    <Blank
      drawing="lost"
      title={say('inbound.none.title')}
      text={say(isNarrow ? 'inbound.none.period' : 'inbound.none.text')}
    >
      {isNarrow ? (
        <Button onClick={() => onChange({ period: 'month', from: undefined, to: undefined })}>
          {say('inbound.none.month')}
        </Button>
      ) : (
        <Button
          onClick={() =>
            onChange({ q: undefined, center: undefined, period: undefined, from: undefined, to: undefined })
          }
        >
          {say('inbound.clear')}
        </Button>
      )}
    </Blank>
  )
}
