import { Button, SegmentedControl, Switch, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { Offer } from '../new-dispatch/offer.ts'
import { offerQuery } from '../new-dispatch/offer-query.ts'
import columns from '../parts/content/columns.module.css'
import { Icon } from '../parts/content/icon.tsx'
import { Section } from '../parts/content/section.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { useKept } from '../parts/forms/kept-form.ts'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { Preview } from './preview.tsx'
import styles from './send.module.css'
import {
  emptyDraft,
  emptyStep,
  faultOf,
  formFor,
  formOf,
  MOST_STEPS,
  priceQuery,
  type SendDraft,
  type StepDraft,
  send,
} from './send.ts'
import { StepFields } from './step-fields.tsx'

type Props = { companyId: number; to: string | undefined; onSent(uuid: string): void }

export function SendForm({ companyId, to, onSent }: Props) {
  const { say } = useWords()
  const { data: offer, error, refetch } = useQuery(offerQuery(companyId))
  // The page does not ask before leaving, because the draft is still there when the person returns.
  const { draft, change, forget } = useKept(formFor(companyId, to), emptyDraft(to))
  const { price, priceFault } = usePrice(draft, companyId)
  const sending = useSend(companyId, uuid => {
    forget()
    onSent(uuid)
  })
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (!offer) return <BoneRows rows={5} />
  const fault = faultOf(draft)
  return (
    <form
      className={columns.columns}
      onSubmit={event => {
        event.preventDefault()
        if (fault === undefined) sending.mutate(draft)
      }}
    >
      <div>
        <Destination value={draft.destination} onChange={destination => change({ destination })} />
        <Steps draft={draft} offer={offer} price={price} change={change} />
        <Section title={say('send.when')}>
          <When draft={draft} change={change} />
        </Section>
        <Foot problem={sending.error ?? priceFault} fault={fault} isSending={sending.isPending} />
      </div>
      <Preview draft={draft} price={price} />
    </form>
  )
}

function Destination({ value, onChange }: { value: string; onChange(destination: string): void }) {
  const { say } = useWords()
  return (
    <Section title={say('send.to')}>
      <TextInput
        className={styles.number}
        aria-label={say('send.number')}
        description={say('send.number.help')}
        inputMode="tel"
        autoComplete="off"
        placeholder="+7 916 000-00-01"
        maxLength={64}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </Section>
  )
}

type StepsProps = {
  draft: SendDraft
  offer: Offer
  price: ReturnType<typeof usePrice>['price']
  change(part: Partial<SendDraft>): void
}

function Steps({ draft: { steps }, offer, price, change }: StepsProps) {
  const { say } = useWords()
  const changeStep = (at: number, part: Partial<StepDraft>) =>
    change({ steps: steps.map((step, i) => (i === at ? { ...step, ...part } : step)) })
  const remove = (at: number) => change({ steps: steps.filter((_, i) => i !== at) })
  const add = () => change({ steps: [...steps, emptyStep(steps.at(-1)?.channelType === 'SMS' ? 'VIBER' : 'SMS')] })
  return (
    <>
      {steps.map((step, at) => (
        <Section
          key={at}
          title={steps.length === 1 ? say('send.message') : say('send.step', { number: at + 1 })}
          end={
            steps.length > 1 && (
              <Button variant="subtle" color="gray" size="xs" onClick={() => remove(at)}>
                {say('send.step.remove', { number: at + 1 })}
              </Button>
            )
          }
        >
          <StepFields
            step={step}
            offer={offer}
            priced={price?.steps[at]}
            isLast={at === steps.length - 1}
            onChange={part => changeStep(at, part)}
          />
        </Section>
      ))}
      {steps.length < MOST_STEPS && (
        <Button className={styles.add} leftSection={<Icon name="plus" />} onClick={add}>
          {say('send.step.add')}
        </Button>
      )}
    </>
  )
}

type FootProps = { problem: unknown; fault: ReturnType<typeof faultOf>; isSending: boolean }

function Foot({ problem, fault, isSending }: FootProps) {
  const words = useWords()
  const { say } = words
  return (
    <div className={styles.foot}>
      {problem != null && <FormProblem>{describeProblem(words, problem)}</FormProblem>}
      <Button type="submit" variant="filled" disabled={fault !== undefined} loading={isSending}>
        {say('send.send')}
      </Button>
      {fault && <span className="note">{say(fault)}</span>}
    </div>
  )
}

function When({ draft: { startAt, shortUrl }, change }: { draft: SendDraft; change(part: Partial<SendDraft>): void }) {
  const { say } = useWords()
  return (
    <div className={styles.when}>
      <SegmentedControl
        aria-label={say('send.when')}
        value={startAt === '' ? 'now' : 'later'}
        data={[
          { value: 'now', label: say('send.now') },
          { value: 'later', label: say('send.later') },
        ]}
        onChange={value => change({ startAt: value === 'now' ? '' : inAnHour() })}
      />
      {startAt !== '' && (
        <TextInput
          type="datetime-local"
          aria-label={say('send.startAt')}
          description={say('send.startAt.help')}
          value={startAt}
          onChange={({ currentTarget }) => change({ startAt: currentTarget.value })}
        />
      )}
      <Switch
        size="xs"
        label={say('send.shortUrl')}
        checked={shortUrl}
        onChange={({ currentTarget }) => change({ shortUrl: currentTarget.checked })}
      />
    </div>
  )
}

/** In the format of an input for local times. */
function inAnHour(): string {
  const at = new Date(Date.now() + 3600_000)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function usePrice(draft: SendDraft, companyId: number) {
  const [settled] = useDebouncedValue(draft, 300)
  const isWhole = faultOf(settled) === undefined
  const { data, error } = useQuery(priceQuery(formOf(settled), companyId, isWhole))
  return { price: isWhole ? data : undefined, priceFault: isWhole ? error : null }
}

/**
 * The idempotency key stays until the draft changes or the server answers, so that a lost answer does not send twice.
 */
function useSend(companyId: number, onSent: (uuid: string) => void) {
  const tried = useRef({ form: '', key: '' })
  return useMutation({
    mutationFn: (draft: SendDraft) => {
      const form = formOf(draft)
      const written = JSON.stringify(form)
      if (tried.current.form !== written) tried.current = { form: written, key: crypto.randomUUID() }
      return send(form, companyId, tried.current.key)
    },
    onSuccess: ({ messageUuid }) => {
      tried.current = { form: '', key: '' }
      onSent(messageUuid)
    },
  })
}
