import { Button } from '@mantine/core'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { emptyStep, MOST_STEPS, type StepDraft } from '../../send/send.ts'
import { StepFields } from '../../send/step-fields.tsx'
import { useWords } from '../../words/words.ts'
import { withSteps } from '../draft.ts'
import styles from '../new-dispatch.module.css'
import type { StepProps } from '../step.tsx'
import { dispatchChannels } from './channels.tsx'

const LEAST_STEPS = 2

/** A cascade. Each step is sent to the people that the previous step did not reach. */
export function CascadeSteps({ use: { draft, change }, offer }: StepProps) {
  const { say } = useWords()
  const steps = draft.cascade ?? []
  const changeStep = (at: number, part: Partial<StepDraft>) =>
    change(withSteps(steps.map((step, i) => (i === at ? { ...step, ...part } : step))))
  return (
    <>
      {steps.map((step, at) => (
        <Section
          key={at}
          title={say('send.step', { number: at + 1 })}
          end={
            steps.length > LEAST_STEPS && (
              <Button
                variant="subtle"
                color="gray"
                size="xs"
                onClick={() => change(withSteps(steps.filter((_, i) => i !== at)))}
              >
                {say('send.step.remove', { number: at + 1 })}
              </Button>
            )
          }
        >
          <StepFields
            step={step}
            offer={offer}
            channels={dispatchChannels}
            priced={undefined}
            isLast={at === steps.length - 1}
            onChange={part => changeStep(at, part)}
          />
        </Section>
      ))}
      {steps.length < MOST_STEPS && (
        <Button
          className={styles.below}
          leftSection={<Icon name="plus" />}
          onClick={() => change(withSteps([...steps, emptyStep('SMS')]))}
        >
          {say('new.cascade.add')}
        </Button>
      )}
    </>
  )
}
