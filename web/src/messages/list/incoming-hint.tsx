import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { incomingQuery, useChosenCompany } from '../messages.ts'
import type { MessageSearch } from '../search.ts'
import styles from './messages.module.css'

/** Inbound messages have their own page. This line leads there with the same search. */
export function IncomingHint({ search, isAnswered }: { search: MessageSearch; isAnswered: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const isOfCompany = useMe().kind === 'COMPANY'
  const chosen = useChosenCompany()
  const { data, error } = useQuery(incomingQuery(search, chosen, isAnswered))
  const countOf = (count: number, isLeast: boolean) => `${number(count)}${isLeast ? '+' : ''}`
  const isUncounted = error !== null || data?.companies === null
  if (!isUncounted && !data?.companies?.length) return null
  const { q, period, from, to } = search
  return (
    <p className={styles.incoming}>
      <Icon name="hook" size={14} />
      {isUncounted && (
        <Link to="/inbound" search={{ q, period, from, to }} className="link">
          {say('messages.incoming.uncounted')}
        </Link>
      )}
      {data?.companies?.map(({ companyId, companyName, count, isLeast }) => (
        <Link
          key={companyId}
          to="/inbound"
          search={{ q, period, from, to, ...(isOfCompany ? {} : { company: companyId }) }}
          className="link"
        >
          {isOfCompany || chosen !== undefined
            ? say('messages.incoming', { count: countOf(count, isLeast) })
            : say('messages.incoming.of', { company: companyName, count: countOf(count, isLeast) })}
        </Link>
      ))}
    </p>
  )
}
