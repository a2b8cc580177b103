import { Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { partnerQuery, partnersQuery } from './partners.ts'

type Props = Pick<
  SelectProps,
  'label' | 'aria-label' | 'placeholder' | 'nothingFoundMessage' | 'error' | 'clearable'
> & {
  value: number | undefined
  /** Leaves out disabled partners. */
  isActive?: boolean
  onChange(partnerId: number | undefined): void
}

const WAIT_MS = 200

/** Searches by a part of the login, because there may be many partners. */
export function PartnerChoice({ value, isActive = false, onChange, ...given }: Props) {
  const [search, setSearch] = useState('')
  const [asked] = useDebouncedValue(search.trim(), WAIT_MS)
  const { data } = useQuery(partnersQuery({ search: asked || undefined, state: isActive ? 'active' : undefined }))
  const chosen = useQuery({ ...partnerQuery(value ?? 0), enabled: value !== undefined }).data
  const found = [...(chosen ? [chosen] : []), ...(data?.items ?? [])]
  const logins = new Map(found.map(({ partnerId, login }) => [String(partnerId), login]))
  return (
    <Select
      {...given}
      searchable
      value={value === undefined ? null : String(value)}
      searchValue={search}
      onSearchChange={setSearch}
      onChange={partnerId => onChange(partnerId === null ? undefined : Number(partnerId))}
      data={[...logins].map(([partnerId, login]) => ({ value: partnerId, label: login }))}
    />
  )
}
