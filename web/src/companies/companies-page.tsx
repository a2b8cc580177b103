import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { companyOrders, companyStatuses } from '../../../src/domain/companies/company.ts'
import { AttentionList } from '../overview/attention.tsx'
import { Figures } from '../overview/figures.tsx'
import { overviewQuery } from '../overview/overview.ts'
import { Icon } from '../parts/content/icon.tsx'
import { Section } from '../parts/content/section.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { CursorPages, NoRowFits } from '../parts/lists/cursor-pages.tsx'
import { SearchField } from '../parts/lists/search-field.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { oneOf } from '../search-values.ts'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './companies.module.css'
import { type CompaniesSearch, listQuery } from './companies.ts'
import { CompanyTable } from './company-table.tsx'
import { useWithFailures } from './failures.ts'
import { NewCompanyDialog } from './new-company-dialog.tsx'

/** All companies of a partner, and for staff of all partners, each with its state. */
export function CompaniesPage() {
  const { say } = useWords()
  const { company: _, new: isMaking, ...search } = useSearch({ from: '/shell/companies' })
  const navigate = useNavigate()
  const mayChange = useMe().rights.includes('companies.change')
  const overview = useQuery(overviewQuery(undefined)).data
  const setMaking = (isOpen: boolean) =>
    void navigate({ to: '/companies', search: { ...search, new: isOpen || undefined }, replace: true })
  return (
    <>
      <PageHead
        title={say('companies.title')}
        note={overview ? say('companies.count', { count: overview.companies }) : ' '}
        actions={
          mayChange && (
            <Button variant="filled" leftSection={<Icon name="plus" />} onClick={() => setMaking(true)}>
              {say('companies.new')}
            </Button>
          )
        }
      />
      {overview && overview.companies > 0 && <Figures overview={overview} />}
      <List search={search} />
      {overview && overview.attention.length > 0 && (
        <div className={styles.attention}>
          <AttentionList lines={overview.attention} zone={overview.zone} />
        </div>
      )}
      {isMaking && mayChange && <NewCompanyDialog onClose={() => setMaking(false)} />}
    </>
  )
}

function List({ search }: { search: CompaniesSearch }) {
  const withFailures = useWithFailures()
  const { say } = useWords()
  const { data, error, refetch } = useQuery(listQuery(search))
  return (
    <Section
      title={say('companies.list')}
      end={<Legend hasMoney={data?.items.some(({ account }) => account) ?? false} />}
    >
      <Filters search={search} />
      {data ? (
        data.items.length > 0 ? (
          <>
            <CompanyTable companies={data.items.map(withFailures)} zone={data.zone} at={data.at} />
            <CursorPages to="/companies" search={search} ids={data.items.map(({ companyId }) => companyId)} {...data} />
          </>
        ) : (
          <Nothing search={search} />
        )
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
    </Section>
  )
}

/** Every change of a filter returns to the first page. */
const firstPage = { after: undefined, before: undefined }

function Filters({ search }: { search: CompaniesSearch }) {
  const { say } = useWords()
  const navigate = useNavigate()
  const maySeeMoney = useMe().rights.includes('money.see')
  const show = (change: CompaniesSearch) =>
    void navigate({ to: '/companies', search: { ...search, ...firstPage, ...change }, replace: true })
  return (
    <div className={styles.filters}>
      <div className={styles.search}>
        <SearchField
          label={say('companies.search')}
          clear={say('companies.search.clear')}
          value={search.search ?? ''}
          onSearch={text => show({ search: text || undefined })}
        />
      </div>
      <NativeSelect
        aria-label={say('companies.status')}
        value={search.status ?? ''}
        onChange={({ currentTarget: { value } }) => show({ status: oneOf(companyStatuses, value) })}
        data={[
          { value: '', label: say('companies.status.any') },
          { value: 'ACTIVE', label: say('companies.status.ACTIVE') },
          { value: 'DISABLED', label: say('companies.status.DISABLED') },
        ]}
      />
      <NativeSelect
        aria-label={say('companies.order')}
        value={search.order ?? 'name'}
        onChange={({ currentTarget: { value } }) =>
          show({ order: companyOrders.find(one => one === value && one !== 'name') })
        }
        data={[
          { value: 'name', label: say('companies.order.name') },
          { value: 'newest', label: say('companies.order.newest') },
          ...(maySeeMoney ? [{ value: 'spent', label: say('companies.order.spent') }] : []),
        ]}
      />
    </div>
  )
}

function Legend({ hasMoney }: { hasMoney: boolean }) {
  const { say } = useWords()
  if (!hasMoney) return null
  return (
    <div className={`${styles.legend} only-wide`} aria-hidden="true">
      <span>
        <i className={`${styles.key} ${styles.spent}`} />
        {say('companies.spent')}
      </span>
      <span>
        <i className={`${styles.key} ${styles.held}`} />
        {say('companies.held')}
      </span>
    </div>
  )
}

function Nothing({ search: { search, status } }: { search: CompaniesSearch }) {
  const { say } = useWords()
  if (search === undefined && status === undefined)
    return <Blank drawing="bird" title={say('companies.empty')} text={say('companies.empty.text')} />
  return <NoRowFits to="/companies" title={say('companies.nothing')} />
}
