import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useId, useState } from 'react'
import { Section } from '../parts/content/section.tsx'
import { Status } from '../parts/content/status.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { oneOf } from '../search-values.ts'
import { useWords } from '../words/words.ts'
import styles from './inbound.module.css'
import { channels, type Rule, type Rules, type Trial, type TrialSearch, trialQuery } from './inbound.ts'

type Props = { companyId: number; rules: Rules }

/** Shows which traffic center would get a message. The server applies the same rules as to an inbound message. */
export function Tester({ companyId, rules }: Props) {
  const { say } = useWords()
  const { company: _, ...asked } = useSearch({ from: '/shell/inbound/rules' })
  const { data, error, refetch } = useQuery(trialQuery(companyId, asked))
  return (
    <Section title={say('inbound.try')}>
      <TesterForm key={companyId} rules={rules} asked={asked} />
      {asked.name !== undefined && error && <ErrorState error={error} onRetry={refetch} />}
      {asked.name !== undefined && data && !error && <Result trial={data} rules={rules.rules} asked={asked} />}
    </Section>
  )
}

function TesterForm({ rules, asked }: { rules: Rules; asked: TrialSearch }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const navigate = useNavigate({ from: '/inbound/rules' })
  const [given, setGiven] = useState<TrialSearch>({ name: rules.names[0]?.senderName, ...defined(asked) })
  const [isChecked, setIsChecked] = useState(false)
  const set = (changed: TrialSearch) => setGiven(before => ({ ...before, ...changed }))
  const name = given.name?.trim() ?? ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setIsChecked(true)
    if (name !== '')
      void navigate({ to: '/inbound/rules', search: before => ({ ...before, ...given, name }), replace: true })
  }
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <p className="note">{say('inbound.try.note')}</p>
      <NativeSelect
        label={say('inbound.channel')}
        value={given.channel ?? 'WHATSAPP'}
        data={channels.map(value => ({ value, label: channel(value) }))}
        onChange={({ currentTarget }) => set({ channel: oneOf(channels, currentTarget.value) })}
      />
      <NameField
        value={given.name ?? ''}
        rules={rules}
        problem={isChecked && name === '' && say('inbound.try.noName')}
        onChange={name => set({ name })}
      />
      <MessageFields given={given} onChange={set} />
      <div>
        <Button type="submit">{say('inbound.try.submit')}</Button>
      </div>
    </form>
  )
}

type NameProps = { value: string; rules: Rules; problem: string | false; onChange(name: string): void }

function NameField({ value, rules, problem, onChange }: NameProps) {
  const { say } = useWords()
  const list = useId()
  return (
    <>
      <TextInput
        label={say('inbound.to')}
        list={list}
        autoComplete="off"
        maxLength={100}
        error={problem}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <datalist id={list}>
        {rules.names.map(({ senderName }) => (
          <option key={senderName} value={senderName} />
        ))}
      </datalist>
    </>
  )
}

function MessageFields({ given, onChange }: { given: TrialSearch; onChange(changed: TrialSearch): void }) {
  const { say } = useWords()
  return (
    <>
      <TextInput
        label={say('inbound.try.from')}
        type="tel"
        autoComplete="off"
        placeholder="+7 916 000-00-01"
        maxLength={32}
        value={given.from ?? ''}
        onChange={({ currentTarget }) => onChange({ from: currentTarget.value || undefined })}
      />
      <Textarea
        label={say('inbound.text')}
        autosize
        minRows={2}
        maxRows={6}
        maxLength={1000}
        value={given.text ?? ''}
        onChange={({ currentTarget }) => onChange({ text: currentTarget.value || undefined })}
      />
    </>
  )
}

const defined = (search: TrialSearch): TrialSearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))

type ResultProps = { trial: Trial; rules: Rule[]; asked: TrialSearch }

function Result({ trial, rules, asked }: ResultProps) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const { hindrance, center, rule, isStop } = trial
  const placeOf = (one: Rule) => rules.findIndex(({ ruleId }) => ruleId === one.ruleId) + 1
  const why = {
    channel: say('inbound.try.channel', { channel: channel(asked.channel ?? 'WHATSAPP') }),
    switch: say('inbound.try.switch'),
    name: say('inbound.try.name', { name: asked.name ?? '' }),
  }
  return (
    <div className={styles.result} role="status">
      {hindrance && (
        <>
          <Status kind="warn">{say('inbound.try.notKept')}</Status>
          <p>{why[hindrance]}</p>
        </>
      )}
      {center && (
        <>
          <p className={styles.goes}>
            {say(hindrance ? 'inbound.try.wouldGo' : 'inbound.try.goes', { center: center.name })}
          </p>
          <p>{rule ? say(reasonOf(rule), { place: placeOf(rule) }) : say('inbound.try.noRule')}</p>
          <p>{rule?.callbackUrl ? say('inbound.try.told', { url: rule.callbackUrl }) : say('inbound.try.nobody')}</p>
        </>
      )}
      {isStop && <p className={styles.warn}>{say(stopOf(trial))}</p>}
      {trial.others.length > 0 && center && (
        <ul className={styles.others}>
          {trial.others.map(({ rule, verdict }) => (
            <li key={rule.ruleId}>
              <b>{say('inbound.try.rule', { place: placeOf(rule), center: rule.centerName })}</b>{' '}
              {say(verdicts[verdict], { names: rule.senderNames.join(', ') })}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const reasonOf = ({ senderNames }: Rule) =>
  senderNames.length > 0 ? ('inbound.try.byName' as const) : ('inbound.try.byAll' as const)

const stopOf = ({ isBlacklisted }: Trial) =>
  isBlacklisted ? ('inbound.try.stopThere' as const) : ('inbound.try.stop' as const)

const verdicts = {
  names: 'inbound.try.others.names',
  later: 'inbound.try.others.later',
  channel: 'inbound.try.others.channel',
} as const
