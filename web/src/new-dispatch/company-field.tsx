import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { CompaniesAnswer } from '../../../src/http/cabinet/companies/companies.ts'
import { ask } from '../api.ts'
import { useWords } from '../words/words.ts'
import { withoutNames } from './offer.ts'
import type { DraftUse } from './use-draft.ts'

/** The company that sends. It is the company of the header, which the address contains. */
export function CompanyField({ use, companyId }: { use: DraftUse; companyId: number | undefined }) {
  const { say } = useWords()
  const navigate = useNavigate()
  const [search, setSearch] = useState('')
  const [asked] = useDebouncedValue(search.trim(), 150)
  const { data } = useQuery({
    queryKey: ['companies', asked],
    queryFn: () => ask<CompaniesAnswer>('GET', `/companies?${new URLSearchParams({ search: asked })}`),
    placeholderData: keepPreviousData,
  })
  const choose = (value: string | null) => {
    if (value === null) return
    use.change({ companyId: Number(value), ...withoutNames(use.draft) })
    void navigate({ to: '.', search: before => ({ ...before, company: Number(value) }) })
  }
  return (
    <Select
      label={say('new.company')}
      placeholder={say('new.company.choose')}
      searchable
      filter={({ options }) => options}
      searchValue={search}
      onSearchChange={setSearch}
      nothingFoundMessage={say('company.none')}
      data={(data?.items ?? [])
        .filter(({ status }) => status === 'ACTIVE')
        .map(({ companyId, name }) => ({ value: String(companyId), label: name }))}
      value={companyId === undefined ? null : String(companyId)}
      onChange={choose}
    />
  )
}
