import type { ReactNode } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { PageLink } from '../parts/pages/page-link.tsx'
import { useWords } from '../words/words.ts'
import styles from './overview.module.css'
import type { Overview } from './overview.ts'

type Steps = NonNullable<Overview['firstSteps']>

/** Replaces figures that are all zero with the first steps of a new company. */
export function FirstSteps({ steps }: { steps: Steps }) {
  const { say } = useWords()
  const { hasSender, hasKey } = steps
  return (
    <section className={styles.first}>
      <h2>{say('overview.first.title')}</h2>
      <p className="note">{say('overview.first.text')}</p>
      <ol>
        <Step
          number={1}
          isDone={hasSender}
          title={<StepTitle to="/senders">{say('overview.first.sender')}</StepTitle>}
          note={say(hasSender ? 'overview.first.senderDone' : 'overview.first.senderNote')}
        />
        <Step
          number={2}
          isDone={false}
          title={<StepTitle to="/dispatches/new">{say('overview.first.dispatch')}</StepTitle>}
          note={say('overview.first.dispatchNote')}
        />
        <Step
          number={3}
          isDone={hasKey}
          title={<StepTitle to="/developers">{say('overview.first.key')}</StepTitle>}
          note={say(hasKey ? 'overview.first.keyDone' : 'overview.first.keyNote')}
        >
          <a className="link" href="../docs">
            {say('app.docs')}
          </a>
        </Step>
      </ol>
    </section>
  )
}

const StepTitle = ({ to, children }: { to: string; children: string }) => (
  <PageLink to={to} otherwise={children}>
    {children}
  </PageLink>
)

type StepProps = { number: number; isDone: boolean; title: ReactNode; note: string; children?: ReactNode }

const Step = ({ number, isDone, title, note, children }: StepProps) => (
  <li>
    <span className={`${styles.stepMark} ${isDone ? styles.okText : ''}`} aria-hidden="true">
      {isDone ? <Icon name="ok" size={24} /> : number}
    </span>
    <div>
      <b>{title}</b>
      <p className="note">{note}</p>
      {children}
    </div>
  </li>
)
