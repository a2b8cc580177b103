import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'
import { BoneRows } from '../lists/bones.tsx'
import { ListFilters, ListPages, NothingFits } from '../lists/list-filters.tsx'
import type { ListSearch } from '../lists/list-search.ts'
import { Blank } from '../pages/blank.tsx'
import { ErrorState } from '../pages/error-state.tsx'

type Pages = { page: number; perPage: number; total: number }
type Props<Data, State extends string> = {
  asked: { data: Data | undefined; error: unknown; refetch(): unknown }
  search: ListSearch<State>
  /** The label of the search field. */
  label: string
  states: [State, string][]
  empty: { title: string; text: string }
  /** The table. Undefined if no row matches the filters. */
  children(data: Data): ReactNode
}

/** A list of sender names or templates, with a search field, a choice of states, and pages. */
export function ReviewedList<Data extends Pages, State extends string>(props: Props<Data, State>) {
  const { asked, search, label, states, empty, children } = props
  const { say } = useWords()
  const { data, error } = asked
  const isFiltered = search.state !== undefined || search.search !== undefined
  if (!data) return error ? <ErrorState error={error} onRetry={asked.refetch} /> : <BoneRows rows={6} />
  if (data.total === 0 && !isFiltered) return <Blank drawing="bird" {...empty} />
  const table = children(data)
  return (
    <>
      <ListFilters search={search} words={label} stateLabel={say('senders.state')} states={states} />
      {table ? (
        <>
          {table}
          <ListPages search={search} {...data} />
        </>
      ) : (
        <NothingFits />
      )}
    </>
  )
}

/** A link to the form of a new request. */
export const RequestButton = ({ to, children }: { to: '/senders/new' | '/templates/new'; children: string }) => (
  <Button
    variant="filled"
    leftSection={<Icon name="plus" />}
    renderRoot={props => <Link {...props} to={to} search={{}} />}
  >
    {children}
  </Button>
)
