import { useQuery } from '@tanstack/react-query'
import type { ServiceAnswer } from '../../../src/http/cabinet/sign-in/session.ts'
import { ask } from '../api.ts'
import { Icon, type IconName } from '../parts/content/icon.tsx'
import { useWords } from '../words/words.ts'
import styles from './demo-logins.module.css'

/** The people that a demo has: `src/commands/service/demo.ts` makes them. */
const logins = [
  { login: 'company', icon: 'building', who: 'signIn.demo.company', note: 'signIn.demo.companyNote' },
  { login: 'demo', icon: 'users', who: 'signIn.demo.partner', note: 'signIn.demo.partnerNote' },
  { login: 'staff', icon: 'shield', who: 'signIn.demo.staff', note: 'signIn.demo.staffNote' },
] as const satisfies { login: string; icon: IconName; who: string; note: string }[]

/** In a demo: whom one may try. The password is needed all the same, a demo may be reached by others. */
export function DemoLogins({ onChoose }: { onChoose(login: string): void }) {
  const { say } = useWords()
  const { data } = useQuery({
    queryKey: ['service'],
    queryFn: () => ask<ServiceAnswer>('GET', '/service'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!data?.isDemo) return null
  return (
    <section className={styles.demo} aria-label={say('signIn.demo.title')}>
      <p className="note">{say('signIn.demo.title')}</p>
      <ul>
        {logins.map(({ login, icon, who, note }) => (
          <li key={login}>
            <button type="button" onClick={() => onChoose(login)}>
              <Icon name={icon} size={18} />
              <span>
                <span className={styles.who}>{say(who)}</span>
                <span className={styles.note}>
                  <span className="mono">{login}</span>, {say(note)}
                </span>
              </span>
              <Icon name="arrow" />
            </button>
          </li>
        ))}
      </ul>
      <p className={styles.note}>{say('signIn.demo.password')}</p>
    </section>
  )
}
