import { useQuery } from '@tanstack/react-query'
import type { ServiceAnswer } from '../../../src/http/cabinet/sign-in/session.ts'
import { ask } from '../api.ts'
import { Icon, type IconName } from '../parts/content/icon.tsx'
import { useWords } from '../words/words.ts'
import styles from './demo-logins.module.css'

/** The people of a demo, created by `src/commands/service/demo.ts`. */
const logins = [
  { login: 'company', icon: 'building', name: 'signIn.demo.company', note: 'signIn.demo.companyNote' },
  { login: 'demo', icon: 'users', name: 'signIn.demo.partner', note: 'signIn.demo.partnerNote' },
  { login: 'staff', icon: 'shield', name: 'signIn.demo.staff', note: 'signIn.demo.staffNote' },
] as const satisfies { login: string; icon: IconName; name: string; note: string }[]

/** The logins of a demo. The password is still required, because strangers may reach the demo. */
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
        {logins.map(({ login, icon, name, note }) => (
          <li key={login}>
            <button type="button" onClick={() => onChoose(login)}>
              <Icon name={icon} size={18} />
              <span>
                <span className={styles.name}>{say(name)}</span>
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
