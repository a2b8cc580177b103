import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { partnerStates } from '../../../src/domain/partners/partner.ts'
import companies from '../companies/companies.module.css'
import { useFigures } from '../dispatches/figures.ts'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { CursorPages, NoRowFits } from '../parts/lists/cursor-pages.tsx'
import { SearchField } from '../parts/lists/search-field.tsx'
import table from '../parts/lists/table.module.css'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { oneOf } from '../search-values.ts'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { NewPartnerDialog } from './partner-dialogs.tsx'
import { PartnerState } from './partner-state.tsx'
import { type Partner, type PartnersSearch, partnersQuery } from './partners.ts'

/** For staff: the list of partners with their states. */
export function PartnersPage() {
  const { say } = useWords()
  const { company: _, ...search } = useSearch({ from: '/shell/partners' })
  const mayChange = useMe().rights.includes('partners.change')
  const [isMaking, setIsMaking] = useState(false)
  const { data, error, refetch } = useQuery(partnersQuery(search))
  return (
    <>
      <PageHead
        title={say('partners.title')}
        note={say('partners.note')}
        actions={
          mayChange && (
            <Button variant="filled" leftSection={<Icon name="plus" />} onClick={() => setIsMaking(true)}>
              {say('partners.new')}
            </Button>
          )
        }
      />
      <Filters search={search} />
      {data ? (
        data.items.length > 0 ? (
          <>
            <PartnerTable partners={data.items} />
            <CursorPages to="/partners" search={search} ids={data.items.map(({ partnerId }) => partnerId)} {...data} />
          </>
        ) : (
          <Nothing search={search} />
        )
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
      {isMaking && <NewPartnerDialog onClose={() => setIsMaking(false)} />}
    </>
  )
}

function Filters({ search }: { search: PartnersSearch }) {
  const { say } = useWords()
  const navigate = useNavigate()
  const show = (change: PartnersSearch) => {
    const next = { ...search, after: undefined, before: undefined, ...change }
    void navigate({ to: '/partners', search: next, replace: true })
  }
  return (
    <div className={companies.filters}>
      <div className={companies.search}>
        <SearchField
          label={say('partners.search')}
          clear={say('companies.search.clear')}
          value={search.search ?? ''}
          onSearch={text => show({ search: text || undefined })}
        />
      </div>
      <NativeSelect
        aria-label={say('partners.state')}
        value={search.state ?? ''}
        onChange={({ currentTarget: { value } }) => show({ state: oneOf(partnerStates, value) })}
        data={[
          { value: '', label: say('partners.state.any') },
          { value: 'active', label: say('partners.state.active') },
          { value: 'disabled', label: say('partners.state.disabled') },
        ]}
      />
    </div>
  )
}

function PartnerTable({ partners }: { partners: Partner[] }) {
  const { say } = useWords()
  return (
    <table className={`${table.table} ${companies.list}`}>
      <thead>
        <tr>
          <th>{say('partners.partner')}</th>
          <th>{say('partners.state')}</th>
          <th className={table.number}>{say('partners.companies')}</th>
          <th className={table.number}>{say('companies.sent')}</th>
          <th className={table.number}>{say('companies.delivered')}</th>
          <th className={table.number}>{say('partners.since')}</th>
        </tr>
      </thead>
      <tbody>
        {partners.map(partner => (
          <PartnerRow key={partner.partnerId} partner={partner} />
        ))}
      </tbody>
    </table>
  )
}

function PartnerRow({ partner }: { partner: Partner }) {
  const { say } = useWords()
  const { number, date } = useFormats()
  const { share } = useFigures()
  const { partnerId, today } = partner
  const results = today.delivered + today.failed
  return (
    <tr>
      <td className={table.title}>
        <Link className={table.main} to="/partners/$partnerId" params={{ partnerId }} search={{}}>
          {partner.login}
        </Link>
      </td>
      <td className={table.corner}>
        <PartnerState partner={partner} />
      </td>
      <td className={table.number} data-label={say('partners.companies')}>
        {number(partner.companies)}
      </td>
      <td className={table.number} data-label={say('companies.sent')}>
        {number(today.sent)}
      </td>
      <td className={table.number} data-label={say('companies.delivered')}>
        {results > 0 ? share(today.delivered, results) : <span className={table.dim}>–</span>}
      </td>
      <td className={`${table.number} ${companies.wide}`}>{date(partner.createdAt)}</td>
    </tr>
  )
}

function Nothing({ search: { search, state } }: { search: PartnersSearch }) {
  const { say } = useWords()
  if (search === undefined && state === undefined)
    return <Blank drawing="bird" title={say('partners.empty')} text={say('partners.empty.text')} />
  return <NoRowFits to="/partners" title={say('partners.nothing')} />
}
