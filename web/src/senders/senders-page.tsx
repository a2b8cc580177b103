import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { RequestButton, ReviewedList } from '../parts/review/reviewed-list.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { NamesTable } from './names-table.tsx'
import { nameStates } from './search.ts'
import { namesQuery } from './senders.ts'

/** The sender names of one company. */
export function SendersPage() {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('settings.change')
  return (
    <>
      <PageHead
        title={say('senders.title')}
        note={say('senders.note')}
        actions={mayChange && <RequestButton to="/senders/new">{say('senders.request')}</RequestButton>}
      />
      <OneCompany>{companyId => <Names companyId={companyId} />}</OneCompany>
    </>
  )
}

function Names({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { company: _, ...search } = useSearch({ from: '/shell/senders' })
  const asked = useQuery(namesQuery(companyId, search))
  return (
    <ReviewedList
      asked={asked}
      search={search}
      label={say('senders.search')}
      states={nameStates.map(state => [state, say(`review.state.${state}`)])}
      empty={{ title: say('senders.empty.title'), text: say('senders.empty.text') }}
    >
      {({ names, currency }) => names.length > 0 && <NamesTable names={names} currency={currency} />}
    </ReviewedList>
  )
}
