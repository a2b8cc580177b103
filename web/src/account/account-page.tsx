import type { ReactNode } from 'react'
import { useIsDrawn } from '../parts/first-drawing.ts'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './account.module.css'
import { LookForm } from './look-form.tsx'
import { PasswordForm } from './password-form.tsx'
import { ProfileForm } from './profile-form.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'

/** The page on which a person changes the own name, password, second factor and sessions. */
export function AccountPage() {
  const { say } = useWords()
  const { role, login, kind } = useMe()
  const isDrawn = useIsDrawn() // the sessions are below the first screen
  const passwordNote = say(kind === 'PARTNER' ? 'account.password.partnerNote' : 'account.password.note')
  return (
    <>
      <PageHead title={say('account.title')} note={say('account.signedInAs', { role: say(`role.${role}`), login })} />
      <Section title={say('account.profile.title')} note={say('account.profile.note')}>
        <ProfileForm />
      </Section>
      <Section title={say('account.look.title')} note={say('account.look.note')}>
        <LookForm />
      </Section>
      <Section title={say('account.password.title')} note={passwordNote}>
        <PasswordForm />
      </Section>
      <Section title={say('account.second.title')} note={say('account.second.note')}>
        <SecondFactor />
      </Section>
      <Section title={say('account.sessions.title')} note={say('account.sessions.note')}>
        {isDrawn && <Sessions />}
      </Section>
    </>
  )
}

const Section = ({ title, note, children }: { title: string; note: string; children: ReactNode }) => (
  <section className={styles.section} aria-label={title}>
    <div className={styles.about}>
      <h2>{title}</h2>
      <p className="note">{note}</p>
    </div>
    <div className={styles.content}>{children}</div>
  </section>
)
