import { NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core'
import { Section } from '../../parts/content/section.tsx'
import { choosing } from '../../parts/forms/choosing.ts'
import { termNames } from '../../parts/names/week-hours.ts'
import { useWords } from '../../words/words.ts'
import { Choice } from '../choice.tsx'
import { rateTerms, type When } from '../draft.ts'
import { EndEstimate } from '../estimate.tsx'
import styles from '../new-dispatch.module.css'
import { Foot, type StepProps } from '../step.tsx'
import { PriceInFoot, PriceSummary } from '../summary.tsx'
import { WeekGrid } from './week-grid.tsx'

const WEEK_MS = 7 * 86_400_000
const USUAL_RATE = 30

/** The mistake of the times. The clock of the page is exact enough, because the server checks again. */
export function faultOfWhen({ startAt, endAt, hours, days }: When, now = new Date()) {
  if (hours.length === 0 || days.length === 0) return 'new.when.nothing'
  const startMs = startAt === '' ? now.getTime() : Date.parse(startAt)
  // Local time of a subscriber may be twelve hours behind.
  if (startAt !== '' && startMs < now.getTime() - WEEK_MS / 14) return 'new.when.startIsPast'
  if (startMs > now.getTime() + WEEK_MS) return 'new.when.startIsFar'
  if (endAt !== '' && Date.parse(endAt) <= startMs) return 'new.when.endIsEarly'
}

/** Step 3: start, end, hours of the week, local time of subscribers, speed. */
export function WhenStep({ use, offer }: StepProps) {
  const { say } = useWords()
  const { draft } = use
  const { when } = draft
  const change = (part: Partial<When>) => use.change({ when: { ...when, ...part } })
  const fault = faultOfWhen(when)
  return (
    <>
      <div className={styles.columns}>
        <div>
          <Start when={when} change={change} />
          <Section title={say('new.when.hours')} note={say('new.when.hours.note')}>
            <WeekGrid hours={when.hours} days={when.days} onChange={change} />
            <Switch
              className={styles.option}
              label={say('new.when.clock')}
              description={say('new.when.clock.text')}
              checked={when.useLocalTime}
              onChange={({ currentTarget }) => change({ useLocalTime: currentTarget.checked })}
            />
          </Section>
          <Speed when={when} change={change} />
          <Section title={say('new.estimate')} note={say('new.when.moscow')}>
            <p role="status">
              <EndEstimate draft={draft} offer={offer} />
            </p>
          </Section>
        </div>
        <PriceSummary draft={draft} offer={offer} />
      </div>
      <Foot step={3} fault={fault && say(fault)} sum={<PriceInFoot draft={draft} offer={offer} />} />
    </>
  )
}

type PartProps = { when: When; change(part: Partial<When>): void }

function Start({ when, change }: PartProps) {
  const { say } = useWords()
  const isLater = when.startAt !== ''
  return (
    <Section title={say('new.when.start')}>
      <Choice
        label={say('new.when.start')}
        isTwin
        value={isLater ? 'later' : 'now'}
        onChange={value => change({ startAt: value === 'later' ? inAnHour() : '' })}
        options={[
          { value: 'now', title: say('new.when.now'), text: say('new.when.now.text') },
          { value: 'later', title: say('new.when.later'), text: say('new.when.later.text') },
        ]}
      />
      <div className={`${styles.two} ${styles.below}`}>
        {isLater && (
          <TextInput
            type="datetime-local"
            label={say('new.when.startAt')}
            value={when.startAt}
            onChange={({ currentTarget }) => currentTarget.value && change({ startAt: currentTarget.value })}
          />
        )}
        <TextInput
          type="datetime-local"
          label={say('new.when.endAt')}
          description={say('new.when.endAt.help')}
          value={when.endAt}
          onChange={({ currentTarget }) => change({ endAt: currentTarget.value })}
        />
      </div>
    </Section>
  )
}

/** The next full hour, in the format of the input. */
function inAnHour(): string {
  const time = new Date(Date.now() + 3_600_000)
  time.setMinutes(0)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}T${two(time.getHours())}:00`
}

function Speed({ when, change }: PartProps) {
  const { say } = useWords()
  return (
    <Section title={say('new.when.speed')}>
      <Choice
        label={say('new.when.speed')}
        isTwin
        value={when.rate === null ? 'fast' : 'limited'}
        onChange={value => change({ rate: value === 'limited' ? USUAL_RATE : null })}
        options={[
          { value: 'fast', title: say('new.when.fast'), text: say('new.when.fast.text') },
          { value: 'limited', title: say('new.when.limited'), text: say('new.when.limited.text') },
        ]}
      />
      {when.rate !== null && (
        <div className={styles.rate}>
          <NumberInput
            aria-label={say('new.when.rate')}
            min={1}
            max={10_000}
            allowDecimal={false}
            hideControls
            value={when.rate}
            onChange={value => typeof value === 'number' && value >= 1 && change({ rate: value })}
          />
          <NativeSelect
            aria-label={say('new.when.term')}
            value={when.rateTerm}
            onChange={({ currentTarget }) => choosing(rateTerms, rateTerm => change({ rateTerm }))(currentTarget.value)}
            data={rateTerms.map(term => ({ value: term, label: say(termNames[term]) }))}
          />
        </div>
      )}
    </Section>
  )
}
