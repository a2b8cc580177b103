import { Combobox, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { CompaniesAnswer, ListedCompany } from '../../../src/http/cabinet/companies.ts'
import { ask } from '../api.ts'
import { Icon } from '../parts/icon.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './company-switcher.module.css'

const companiesQuery = (search: string) =>
  queryOptions({
    queryKey: ['companies', search],
    queryFn: () => ask<CompaniesAnswer>('GET', `/companies?${new URLSearchParams({ search })}`),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })

/** Which company the pages show: a company has one; partners and staff choose one, or all. */
export const CompanySwitcher = () => (useMe().kind === 'COMPANY' ? <OwnCompany /> : <Switcher />)

function OwnCompany() {
  const { data } = useQuery(companiesQuery(''))
  return (
    <span className={styles.own}>
      <Icon name="building" size={14} />
      <span className={styles.name}>{data?.items[0]?.name}</span>
    </span>
  )
}

const ALL = 'all'

function Switcher() {
  const { say } = useWords()
  const { company: chosenId } = useSearch({ from: '/shell' })
  const navigate = useNavigate()
  const [search, setSearch] = useState('')
  const [asked] = useDebouncedValue(search.trim(), 150)
  const found = useQuery(companiesQuery(asked))
  const name = useNameOf(chosenId)
  const combobox = useCombobox({
    onDropdownOpen: () => combobox.focusSearchInput(),
    onDropdownClose: () => {
      combobox.resetSelectedOption()
      combobox.focusTarget()
      setSearch('')
    },
  })

  const choose = (value: string) => {
    combobox.closeDropdown()
    // `undefined` takes it out of the address, where a missing one would be kept.
    void navigate({ to: '.', search: before => ({ ...before, company: value === ALL ? undefined : Number(value) }) })
  }

  return (
    <Combobox store={combobox} position="bottom-start" width={300} onOptionSubmit={choose} classNames={styles}>
      <Combobox.Target targetType="button">
        <button
          type="button"
          className={styles.target}
          onClick={() => combobox.toggleDropdown()}
          aria-label={say('company.choose', { name })}
        >
          <Icon name="building" size={14} />
          <span className={styles.name}>{name}</span>
          <Icon name="turn" size={14} />
        </button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          placeholder={say('company.find')}
          aria-label={say('company.find')}
          leftSection={<Icon name="search" />}
        />
        <Combobox.Options>
          {asked === '' && (
            <Combobox.Option value={ALL} active={chosenId === undefined}>
              <Icon name="users" />
              <span className={styles.name}>{say('company.all')}</span>
              <span className={styles.end}>{chosenId === undefined ? <Icon name="check" /> : found.data?.total}</span>
            </Combobox.Option>
          )}
          {found.data?.items.map(company => (
            <CompanyOption key={company.companyId} company={company} isChosen={company.companyId === chosenId} />
          ))}
          {found.data?.items.length === 0 && <Combobox.Empty>{say('company.none')}</Combobox.Empty>}
        </Combobox.Options>
        <More answer={found.data} />
      </Combobox.Dropdown>
    </Combobox>
  )
}

function CompanyOption({ company, isChosen }: { company: ListedCompany; isChosen: boolean }) {
  const { say } = useWords()
  return (
    <Combobox.Option value={String(company.companyId)} active={isChosen}>
      <Icon name="building" />
      <span className={styles.name}>{company.name}</span>
      <span className={styles.end}>
        {company.status === 'DISABLED' && say('company.disabled')}
        {isChosen && <Icon name="check" />}
      </span>
    </Combobox.Option>
  )
}

function More({ answer }: { answer: CompaniesAnswer | undefined }) {
  const { say } = useWords()
  const more = answer ? answer.total - answer.items.length : 0
  return more > 0 ? <p className={styles.more}>{say('company.more', { count: more })}</p> : null
}

/** Of a company that an address names, also where it is not among the first that the list shows. */
function useNameOf(companyId: number | undefined): string {
  const { say } = useWords()
  const { data } = useQuery({ ...companiesQuery(String(companyId)), enabled: companyId !== undefined })
  if (companyId === undefined) return say('company.all')
  return data?.items.find(company => company.companyId === companyId)?.name ?? `#${companyId}`
}
