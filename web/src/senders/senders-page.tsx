import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Blank } from '../parts/blank.tsx'
import { BoneRows } from '../parts/bones.tsx'
import { ErrorState } from '../parts/error-state.tsx'
import { Icon } from '../parts/icon.tsx'
import { ListFilters, ListPages, NothingFits } from '../parts/list-filters.tsx'
import { OneCompany } from '../parts/one-company.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { useMe } from '../session.ts'
import { ofOneCompany } from '../shell/page.ts'
import { useWords } from '../words/words.ts'
import { NamesTable } from './names-table.tsx'
import { nameSearchOf, nameStates } from './search.ts'
import { namesQuery } from './senders.ts'

/** The sender names of one company. */
export function SendersPage() {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('settings.change')
  return (
    <>
      <PageHead title={say('senders.title')} note={say('senders.note')} actions={mayChange && <RequestButton />} />
      <OneCompany>{companyId => <Names companyId={companyId} />}</OneCompany>
    </>
  )
}
SendersPage.firstQueries = ofOneCompany((companyId, { search }) => [namesQuery(companyId, nameSearchOf(search))])

function RequestButton() {
  const { say } = useWords()
  return (
    <Button
      variant="filled"
      leftSection={<Icon name="plus" />}
      renderRoot={props => <Link {...props} to="/senders/new" search={{}} />}
    >
      {say('senders.request')}
    </Button>
  )
}

function Names({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { company: _, ...search } = useSearch({ from: '/shell/senders' })
  const { data, error, refetch } = useQuery(namesQuery(companyId, search))
  const isFiltered = search.state !== undefined || search.search !== undefined
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={6} />
  if (data.total === 0 && !isFiltered) {
    return <Blank drawing="bird" title={say('senders.empty.title')} text={say('senders.empty.text')} />
  }
  return (
    <>
      <ListFilters
        search={search}
        words={say('senders.search')}
        stateLabel={say('senders.state')}
        states={nameStates.map(state => [state, say(`review.state.${state}`)])}
      />
      {data.names.length > 0 ? (
        <>
          <NamesTable names={data.names} currency={data.currency} />
          <ListPages search={search} {...data} />
        </>
      ) : (
        <NothingFits />
      )}
    </>
  )
}
