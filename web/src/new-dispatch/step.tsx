import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { useWords } from '../words/words.ts'
import styles from './new-dispatch.module.css'
import type { Offer } from './offer.ts'
import { type Step, steps } from './steps.ts'
import type { DraftUse } from './use-draft.ts'

export type StepProps = { use: DraftUse; offer: Offer }

export const stepNames = { 1: 'new.step.1', 2: 'new.step.2', 3: 'new.step.3', 4: 'new.step.4' } as const

type FootProps = { step: Step; fault?: string | undefined; sum?: ReactNode; children?: ReactNode }

/** The buttons for the previous and the next step. At 390 pixels the price is beside them. */
export function Foot({ step, fault, sum, children }: FootProps) {
  const { say } = useWords()
  const goTo = useGoTo()
  const before = steps.find(one => one === step - 1)
  const next = steps.find(one => one === step + 1)
  return (
    <div className={styles.foot}>
      {before && (
        <Button className={styles.back} onClick={() => goTo(before)}>
          <Icon name="back" />
          <span>{say('new.back')}</span>
        </Button>
      )}
      <div className={styles.end}>
        <span className={fault ? styles.fault : 'note only-wide'} role={fault ? 'status' : undefined}>
          {fault ?? (step < 4 && say('new.nothingSent'))}
        </span>
        {sum && !fault && <span className={`only-narrow ${styles.sum}`}>{sum}</span>}
        {children ??
          (next && (
            <Button variant="filled" disabled={fault !== undefined} onClick={() => goTo(next)}>
              <span className="only-wide">{say('new.continueTo', { step: say(stepNames[next]) })}</span>
              <span className="only-narrow">{say('new.continue')}</span>
            </Button>
          ))}
      </div>
    </div>
  )
}

/** Opens another step of the same draft. */
export function useGoTo() {
  const navigate = useNavigate()
  return (step: Step) => void navigate({ to: '/dispatches/new', search: before => ({ ...before, step }) })
}
