import { Button, NativeSelect } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { useFormats } from '../../format.ts'
import { PartnerChoice } from '../../partners/partner-choice.tsx'
import { Status } from '../../parts/content/status.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import row from '../../parts/lists/filter-row.module.css'
import { SearchField } from '../../parts/lists/search-field.tsx'
import table from '../../parts/lists/table.module.css'
import { Blank } from '../../parts/pages/blank.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { OneCompany, useCompanyId } from '../../parts/pages/one-company.tsx'
import { oneOf } from '../../search-values.ts'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import { DevelopersFrame, ErrorCodesLink } from '../developers-frame.tsx'
import { useNameOfKey } from '../keys/keys.ts'
import {
  type LoggedRequest,
  methods,
  type RequestPage,
  requestsQuery,
  rowsOf,
  statusClasses,
  useRequestSearch,
} from './requests.ts'

/**
 * The requests of the last day with the keys of one company. A partner without a chosen company sees the requests with
 * its own login.
 */
export function RequestsPage() {
  const isPartner = useMe().kind === 'PARTNER'
  const companyId = useCompanyId()
  const { search } = useRequestSearch()
  if (isPartner || companyId !== undefined || search.partner) return <Log companyId={companyId} />
  return (
    <DevelopersFrame>
      <div className={`${row.filters} ${styles.filters}`}>
        <OfPartner />
      </div>
      <OneCompany>{() => null}</OneCompany>
    </DevelopersFrame>
  )
}

/** Staff without a chosen company see the requests with the login of a partner. */
function OfPartner() {
  const { say } = useWords()
  const { search, change } = useRequestSearch()
  return (
    <PartnerChoice
      aria-label={say('requests.filter.partner')}
      placeholder={say('requests.filter.noPartner')}
      nothingFoundMessage={say('requests.filter.nobody')}
      clearable
      value={search.partner}
      onChange={partner => change({ partner })}
    />
  )
}

function Log({ companyId }: { companyId: number | undefined }) {
  const { say } = useWords()
  const { number } = useFormats()
  const isStaff = useMe().kind === 'STAFF'
  const { search } = useRequestSearch()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    requestsQuery(companyId, search),
  )
  const first = data?.pages[0]
  return (
    <DevelopersFrame note={first && say('developers.note', { count: first.total, refused: number(first.refused) })}>
      <p className={`note ${styles.above}`}>
        {say(companyId !== undefined ? 'requests.note' : isStaff ? 'requests.note.ofPartner' : 'requests.note.partner')}{' '}
        <ErrorCodesLink />
      </p>
      <Filters keys={first?.keys ?? []} />
      {data ? (
        <Found pages={data.pages} hasMore={hasNextPage} />
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
      {hasNextPage && (
        <Button className={styles.older} onClick={() => fetchNextPage()} loading={isFetchingNextPage}>
          {say(data?.pages.some(({ requests }) => requests.length > 0) ? 'callbacks.older' : 'callbacks.further')}
        </Button>
      )}
    </DevelopersFrame>
  )
}

function Filters({ keys }: { keys: RequestPage['keys'] }) {
  const { say } = useWords()
  const nameOf = useNameOfKey()
  const isStaff = useMe().kind === 'STAFF'
  const companyId = useCompanyId()
  const { search, change } = useRequestSearch()
  return (
    <div className={`${row.filters} ${styles.filters}`}>
      {isStaff && companyId === undefined && <OfPartner />}
      <NativeSelect
        aria-label={say('requests.filter.status')}
        value={search.status ?? ''}
        data={[
          { value: '', label: say('requests.filter.all') },
          ...statusClasses.map(value => ({ value, label: say(`requests.filter.${value}`) })),
        ]}
        onChange={({ currentTarget }) => change({ status: oneOf(statusClasses, currentTarget.value) })}
      />
      {keys.length > 0 && (
        <NativeSelect
          aria-label={say('requests.filter.key')}
          value={search.key ?? ''}
          data={[
            { value: '', label: say('requests.filter.keys') },
            ...keys.map(key => ({ value: String(key.keyId), label: nameOf(key) })),
          ]}
          onChange={({ currentTarget }) => change({ key: Number(currentTarget.value) || undefined })}
        />
      )}
      <NativeSelect
        aria-label={say('requests.filter.method')}
        value={search.method ?? ''}
        data={[{ value: '', label: say('requests.filter.methods') }, ...methods]}
        onChange={({ currentTarget }) => change({ method: oneOf(methods, currentTarget.value) })}
      />
      <SearchField
        label={say('requests.filter.id')}
        clear={say('callbacks.clear')}
        value={search.id ?? ''}
        maxLength={128}
        onSearch={id => change({ id: id || undefined })}
      />
    </div>
  )
}

function Found({ pages, hasMore }: { pages: RequestPage[]; hasMore: boolean }) {
  const { say } = useWords()
  const { search, change } = useRequestSearch()
  const rows = rowsOf(pages)
  if (rows.length > 0) return <RequestTable rows={rows} />
  if (hasMore) return <p className="note">{say('callbacks.nothing.further')}</p>
  const { partner: _, ...filters } = search
  if (Object.values(filters).every(value => value === undefined))
    return (
      <Blank
        drawing="bird"
        title={say('requests.empty.title')}
        text={say(pages[0]?.of === 'PARTNER' ? 'requests.empty.partner' : 'requests.empty.text')}
      />
    )
  return (
    <Blank drawing="lost" title={say('requests.nothing.title')} text={say('requests.nothing.text')}>
      <Button onClick={() => change({ status: undefined, key: undefined, method: undefined, id: undefined })}>
        {say('callbacks.clear')}
      </Button>
    </Blank>
  )
}

function RequestTable({ rows }: { rows: ReturnType<typeof rowsOf> }) {
  const { say } = useWords()
  return (
    <table className={`${table.table} ${styles.requests}`}>
      <thead>
        <tr>
          <th>{say('requests.request')}</th>
          <th>{say('requests.status')}</th>
          <th>{say('requests.key')}</th>
          <th>{say('requests.address')}</th>
          <th className={table.number}>{say('requests.took')}</th>
          <th className={table.number}>{say('requests.when')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ request, unlisted }) => (
          <Fragment key={request.id}>
            <RequestRow request={request} />
            {unlisted !== undefined && (
              <tr>
                <td colSpan={6} className={`${table.title} ${table.dim}`}>
                  {say('requests.unlisted', { count: unlisted })}
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  )
}

function RequestRow({ request }: { request: LoggedRequest }) {
  const { say } = useWords()
  const { time, number } = useFormats()
  const nameOf = useNameOfKey()
  const { method, route, requestId, status, key, address, tookMs, at } = request
  return (
    <tr>
      <td className={table.title}>
        <span className={table.main}>
          <span className={styles.method}>{method}</span> {route}
        </span>
        <span className={`${table.sub} mono`}>{requestId}</span>
      </td>
      <td className={table.corner}>
        <Status kind={status < 400 ? 'ok' : status < 500 ? 'warn' : 'fail'}>{String(status)}</Status>
      </td>
      <td data-label={say('requests.key')}>{key ? nameOf(key) : say('requests.token')}</td>
      <td data-label={say('requests.address')}>{address}</td>
      <td data-label={say('requests.took')} className={table.number}>
        {number(tookMs)}
      </td>
      <td data-label={say('requests.when')} className={table.number}>
        <time dateTime={at}>{time(at)}</time>
      </td>
    </tr>
  )
}
