import { Combobox, Drawer, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate, useRouterState, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { CompaniesAnswer, ListedCompany } from '../../../src/http/cabinet/companies/companies.ts'
import { ask } from '../api.ts'
import { Icon, type IconName } from '../parts/content/icon.tsx'
import { useIsDrawn } from '../parts/first-drawing.ts'
import { useIsNarrow } from '../parts/narrow.ts'
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

/** The company that the pages show. People of a company have one; partners and staff choose one or all. */
export function CompanySwitcher() {
  const isNarrow = useIsNarrow()
  if (useMe().kind === 'COMPANY') return <OwnCompany />
  return isNarrow ? <SheetSwitcher /> : <Switcher />
}

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
const NEW = 'new'

/** Shows the chosen company on the open page. From the page of a company it leads to the page of the chosen company. */
function useChoose() {
  const navigate = useNavigate()
  const isOfCompany = useRouterState({ select: ({ location }) => /^\/companies(\/|$)/.test(location.pathname) })
  return (value: string) => {
    // `undefined` removes the company from the address; a missing key would keep it.
    const company = value === ALL || value === NEW ? undefined : Number(value)
    if (value === NEW) void navigate({ to: '/companies', search: { company, new: true } })
    else if (!isOfCompany) void navigate({ to: '.', search: before => ({ ...before, company }) })
    else if (company === undefined) void navigate({ to: '/companies', search: { company } })
    else void navigate({ to: '/companies/$companyId', params: { companyId: company }, search: { company } })
  }
}

function Switcher() {
  const { say } = useWords()
  const { company: chosenId } = useSearch({ from: '/shell' })
  const goTo = useChoose()
  const [search, setSearch] = useState('')
  const [asked] = useDebouncedValue(search.trim(), 150)
  const found = useQuery(companiesQuery(asked))
  const name = useNameOf(chosenId)
  const isDrawn = useIsDrawn()
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
    goTo(value)
  }

  const button = (
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
  )
  if (!isDrawn) return button
  return (
    <Combobox store={combobox} position="bottom-start" width={300} onOptionSubmit={choose} classNames={styles}>
      <Combobox.Target targetType="button">{button}</Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          placeholder={say('company.find')}
          aria-label={say('company.find')}
          leftSection={<Icon name="search" />}
        />
        <CompanyOptions answer={found.data} chosenId={chosenId} isSearch={asked !== ''} />
        <More answer={found.data} />
      </Combobox.Dropdown>
    </Combobox>
  )
}

type OptionsProps = { answer: CompaniesAnswer | undefined; chosenId: number | undefined; isSearch: boolean }

function CompanyOptions({ answer, chosenId, isSearch }: OptionsProps) {
  const { say } = useWords()
  const mayMake = useMe().rights.includes('companies.change')
  return (
    <Combobox.Options aria-label={say('company.chooseOne')}>
      {!isSearch && (
        <Combobox.Option value={ALL} active={chosenId === undefined}>
          <Icon name="users" />
          <span className={styles.name}>{say('company.all')}</span>
          <span className={styles.end}>{chosenId === undefined ? <Icon name="check" /> : answer?.total}</span>
        </Combobox.Option>
      )}
      {answer?.items.map(company => (
        <CompanyOption key={company.companyId} company={company} isChosen={company.companyId === chosenId} />
      ))}
      {answer?.items.length === 0 && <Combobox.Empty>{say('company.none')}</Combobox.Empty>}
      {mayMake && !isSearch && (
        <Combobox.Option value={NEW} className={styles.make}>
          <Icon name="plus" />
          <span className={styles.name}>{say('company.new')}</span>
        </Combobox.Option>
      )}
    </Combobox.Options>
  )
}

/** The same choice on a narrow screen: a sheet over the page with large rows. */
function SheetSwitcher() {
  const { say } = useWords()
  const { company: chosenId } = useSearch({ from: '/shell' })
  const [isOpen, setIsOpen] = useState(false)
  const name = useNameOf(chosenId)
  return (
    <>
      <button
        type="button"
        className={styles.target}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(true)}
        aria-label={say('company.choose', { name })}
      >
        <Icon name="building" size={14} />
        <span className={styles.name}>{name}</span>
        <Icon name="turn" size={14} />
      </button>
      <Drawer
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        position="bottom"
        size="80%"
        title={say('company.chooseOne')}
        closeButtonProps={{ 'aria-label': say('app.close') }}
        classNames={styles}
      >
        <SheetCompanies chosenId={chosenId} onChosen={() => setIsOpen(false)} />
      </Drawer>
    </>
  )
}

function SheetCompanies({ chosenId, onChosen }: { chosenId: number | undefined; onChosen(): void }) {
  const { say } = useWords()
  const mayMake = useMe().rights.includes('companies.change')
  const [search, setSearch] = useState('')
  const [asked] = useDebouncedValue(search.trim(), 150)
  const found = useQuery(companiesQuery(asked))
  const goTo = useChoose()
  const choose = (value: string) => {
    onChosen()
    goTo(value)
  }
  return (
    <>
      <TextInput
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        placeholder={say('company.find')}
        aria-label={say('company.find')}
        leftSection={<Icon name="search" />}
      />
      <ul className={styles.sheetList}>
        {asked === '' && (
          <SheetOption icon="users" isChosen={chosenId === undefined} onChoose={() => choose(ALL)}>
            {say('company.all')}
          </SheetOption>
        )}
        {found.data?.items.map(({ companyId, name, status }) => (
          <SheetOption
            key={companyId}
            icon="building"
            isChosen={companyId === chosenId}
            note={status === 'DISABLED' ? say('company.disabled') : undefined}
            onChoose={() => choose(String(companyId))}
          >
            {name}
          </SheetOption>
        ))}
        {found.data?.items.length === 0 && <li className={styles.empty}>{say('company.none')}</li>}
        {mayMake && (
          <SheetOption icon="plus" onChoose={() => choose(NEW)}>
            {say('company.new')}
          </SheetOption>
        )}
      </ul>
      <More answer={found.data} />
    </>
  )
}

type SheetOptionProps = {
  icon: IconName
  isChosen?: boolean
  note?: string | undefined
  children: string
  onChoose(): void
}

const SheetOption = ({ icon, isChosen = false, note, children, onChoose }: SheetOptionProps) => (
  <li>
    <button type="button" className={styles.option} aria-current={isChosen || undefined} onClick={onChoose}>
      <Icon name={icon} />
      <span className={styles.name}>{children}</span>
      <span className={styles.end}>
        {note}
        {isChosen && <Icon name="check" />}
      </span>
    </button>
  </li>
)

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

/** The name of the company in the address, even if the first page of the list does not contain it. */
function useNameOf(companyId: number | undefined): string {
  const { say } = useWords()
  const { data } = useQuery({ ...companiesQuery(String(companyId)), enabled: companyId !== undefined })
  if (companyId === undefined) return say('company.all')
  return data?.items.find(company => company.companyId === companyId)?.name ?? `#${companyId}`
}
