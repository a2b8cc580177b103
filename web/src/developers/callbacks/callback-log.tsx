import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useFormats } from '../../format.ts'
import { Status } from '../../parts/content/status.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import row from '../../parts/lists/filter-row.module.css'
import { SearchField } from '../../parts/lists/search-field.tsx'
import table from '../../parts/lists/table.module.css'
import { Blank } from '../../parts/pages/blank.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import { CallbackPanel } from './callback-panel.tsx'
import { type Logged, logQuery, placeOf, statuses, useCallbackSearch, useErrorWords } from './callbacks.ts'

type Props = { companyId: number; mayReplay: boolean }

/** The log with its filters. A chosen callback opens beside it. */
export function CallbackLog({ companyId, mayReplay }: Props) {
  const { say } = useWords()
  const { search, change } = useCallbackSearch()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    logQuery(companyId, search),
  )
  const entries = data?.pages.flatMap(page => page.entries)
  const isUnsearched = data?.pages[0]?.isUnsearched ?? false
  const { open } = search
  return (
    <>
      <Filters />
      <div className={open === undefined ? '' : styles.split}>
        <div>
          {entries && entries.length > 0 ? (
            <LogTable entries={entries} open={open} onOpen={id => change({ open: id === open ? undefined : id })} />
          ) : entries ? (
            <Nothing hasMore={hasNextPage} isUnsearched={isUnsearched} />
          ) : error ? (
            <ErrorState error={error} onRetry={refetch} />
          ) : (
            <BoneRows rows={5} />
          )}
          {hasNextPage && (
            <Button className={styles.older} onClick={() => fetchNextPage()} loading={isFetchingNextPage}>
              {say(entries?.length ? 'callbacks.older' : 'callbacks.further')}
            </Button>
          )}
        </div>
        {open !== undefined && (
          <CallbackPanel
            key={open}
            companyId={companyId}
            callbackId={open}
            mayReplay={mayReplay}
            onClose={() => change({ open: undefined })}
          />
        )}
      </div>
    </>
  )
}

function Filters() {
  const { say } = useWords()
  const { search, change } = useCallbackSearch()
  return (
    <div className={`${row.filters} ${styles.filters}`}>
      <NativeSelect
        aria-label={say('callbacks.filter.status')}
        value={search.status ?? ''}
        onChange={({ currentTarget }) => change({ status: statuses.find(one => one === currentTarget.value) })}
      >
        <option value="">{say('callbacks.filter.all')}</option>
        {statuses.map(status => (
          <option key={status} value={status}>
            {say(`callbacks.status.${status}`)}
          </option>
        ))}
      </NativeSelect>
      <TextInput
        type="date"
        aria-label={say('callbacks.filter.day')}
        value={search.day ?? ''}
        onChange={({ currentTarget }) => change({ day: currentTarget.value || undefined })}
      />
      <SearchField
        label={say('callbacks.filter.message')}
        clear={say('callbacks.clear')}
        value={search.message ?? ''}
        maxLength={64}
        onSearch={typed => change({ message: typed || undefined })}
      />
    </div>
  )
}

function Nothing({ hasMore, isUnsearched }: { hasMore: boolean; isUnsearched: boolean }) {
  const { say } = useWords()
  const { search, change } = useCallbackSearch()
  const { status, day, message } = search
  if (hasMore) return <p className="note">{say('callbacks.nothing.further')}</p>
  if (isUnsearched) return <p className="note">{say('callbacks.unsearched')}</p>
  if (status === undefined && day === undefined && message === undefined)
    return <Blank drawing="bird" title={say('callbacks.empty.title')} text={say('callbacks.empty.text')} />
  return (
    <Blank
      drawing="lost"
      title={say('callbacks.nothing.title')}
      text={say(message === undefined ? 'callbacks.nothing.text' : 'callbacks.nothing.message')}
    >
      <Button onClick={() => change({ status: undefined, day: undefined, message: undefined })}>
        {say('callbacks.clear')}
      </Button>
    </Blank>
  )
}

type TableProps = { entries: Logged[]; open: number | undefined; onOpen(callbackId: number): void }

function LogTable({ entries, open, onOpen }: TableProps) {
  const { say } = useWords()
  return (
    <table className={`${table.table} ${styles.log}`}>
      <thead>
        <tr>
          <th>{say('callbacks.address')}</th>
          <th>{say('callbacks.answer')}</th>
          <th className={table.number}>{say('callbacks.events')}</th>
          <th className={table.number}>{say('callbacks.attempts')}</th>
          <th className={table.number}>{say('callbacks.time')}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(entry => (
          <LogRow key={entry.callbackId} entry={entry} isOpen={entry.callbackId === open} onOpen={onOpen} />
        ))}
      </tbody>
    </table>
  )
}

type RowProps = { entry: Logged; isOpen: boolean; onOpen(callbackId: number): void }

function LogRow({ entry, isOpen, onOpen }: RowProps) {
  const { say } = useWords()
  const { number, time, date } = useFormats()
  return (
    <tr className={isOpen ? styles.on : ''}>
      <td className={table.title}>
        <button type="button" className={styles.open} aria-expanded={isOpen} onClick={() => onOpen(entry.callbackId)}>
          {placeOf(entry.url)}
        </button>
        <span className={table.sub}>{say(`callbacks.status.${entry.status}`)}</span>
      </td>
      <td className={table.corner}>
        <LastAnswer entry={entry} />
      </td>
      <td data-label={say('callbacks.events')} className={table.number}>
        {entry.status === 'DELIVERED' || entry.doneEvents === 0
          ? number(entry.eventCount)
          : `${number(entry.doneEvents)} / ${number(entry.eventCount)}`}
      </td>
      <td data-label={say('callbacks.attempts')} className={table.number}>
        {number(entry.attempts)}
      </td>
      <td data-label={say('callbacks.time')} className={table.number}>
        <time dateTime={entry.happenedAt}>
          {time(entry.happenedAt)}
          <span className={table.sub}>{date(entry.happenedAt)}</span>
        </time>
      </td>
    </tr>
  )
}

/** The answer of the receiver to the last attempt. */
function LastAnswer({ entry: { status, lastStatusCode, lastError } }: { entry: Logged }) {
  const { say } = useWords()
  const errorWords = useErrorWords()
  if (lastStatusCode !== null)
    return (
      <Status kind={lastStatusCode >= 200 && lastStatusCode < 300 ? 'ok' : 'fail'}>{String(lastStatusCode)}</Status>
    )
  if (lastError !== null)
    return (
      <span title={errorWords(lastError)}>
        <Status kind="fail">{say('callbacks.noAnswer')}</Status>
      </span>
    )
  return <Status kind={status === 'EXPIRED' ? 'fail' : 'wait'}>{say('callbacks.noAttempt')}</Status>
}
