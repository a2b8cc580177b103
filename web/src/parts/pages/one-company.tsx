import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CompaniesAnswer } from '../../../../src/http/cabinet/companies/companies.ts'
import { ask } from '../../api.ts'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { Blank } from './blank.tsx'
import styles from './one-company.module.css'
import { PageHead } from './page-head.tsx'

/** The chosen company, else the person's own. Undefined while a partner or staff see all companies. */
export function useCompanyId(): number | undefined {
  const { company } = useSearch({ from: '/shell' })
  return company ?? useMe().companyId ?? undefined
}

/** `title` replaces the head of a page that needs the company for its own. */
type Props = { title?: string; children: (companyId: number) => ReactNode }

/** Shows the content of one company. If none is chosen, it offers the first companies of the list. */
export function OneCompany({ title, children }: Props) {
  const companyId = useCompanyId()
  if (companyId !== undefined) return children(companyId)
  return (
    <>
      {title && <PageHead title={title} />}
      <Choice />
    </>
  )
}

function Choice() {
  const { say } = useWords()
  const { data } = useQuery({
    queryKey: ['companies', ''],
    queryFn: () => ask<CompaniesAnswer>('GET', `/companies?${new URLSearchParams({ search: '' })}`),
  })
  return (
    <Blank drawing="bird" title={say('company.chooseOne')} text={say('company.chooseOne.text')}>
      <ul className={styles.choice}>
        {data?.items.slice(0, MOST_SHOWN).map(({ companyId, name }) => (
          <li key={companyId}>
            <Link to="." search={before => ({ ...before, company: companyId })} className="link">
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </Blank>
  )
}

const MOST_SHOWN = 8
