import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { SendAnswer, SendForm } from '../../../../src/http/cabinet/messages/send.ts'
import { ask } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { Status } from '../../parts/content/status.tsx'
import { daysIn, hoursIn, termNames } from '../../parts/names/week-hours.ts'
import { describeProblem } from '../../problems.ts'
import { dateFormat } from '../../words/intl.ts'
import { useWords } from '../../words/words.ts'
import { EndEstimate } from '../estimate.tsx'
import styles from '../new-dispatch.module.css'
import { beginSending, channelsOf, checkedReport, mostOf, numberOf, stepsFor } from '../offer.ts'
import { placeOf } from '../offer-query.ts'
import { Foot, type StepProps, useGoTo } from '../step.tsx'
import type { Step } from '../steps.ts'
import { BrandPrices } from '../summary.tsx'

/** Step 4: a description of the dispatch in words, warnings, the price, a test message, and the button that sends. */
export function CheckStep({ use, offer }: StepProps) {
  const { say } = useWords()
  const { money } = useFormats()
  const report = checkedReport(use.draft)
  const { currency } = offer.company
  const price = money(mostOf(report), currency)
  const isTooDear = lacksFunds(use.draft, offer)
  return (
    <>
      <div className={styles.columns}>
        <div>
          <WhatHappens use={use} offer={offer} />
          <Warnings use={use} offer={offer} />
          <Section title={say('new.check.prices')}>
            <BrandPrices draft={use.draft} offer={offer} />
          </Section>
        </div>
        <aside className={styles.aside}>
          <Budget use={use} offer={offer} />
          <TestMessage use={use} offer={offer} />
        </aside>
      </div>
      <Foot step={4} fault={isTooDear ? say('new.check.noFunds') : undefined}>
        <Button
          className={styles.send}
          variant="filled"
          disabled={isTooDear}
          onClick={() => use.store(beginSending(use.draft))}
        >
          {say('new.check.send', { count: report.willBeSent })}{' '}
          {say(use.draft.cascade ? 'new.cascade.for' : 'new.check.for', { price })}
        </Button>
      </Foot>
    </>
  )
}

const lacksFunds = (draft: StepProps['use']['draft'], { budget }: StepProps['offer']) =>
  budget?.free != null && numberOf(budget.free) < numberOf(checkedReport(draft).price)

function WhatHappens({ use: { draft }, offer }: StepProps) {
  const words = useWords()
  const { say } = words
  const { money, moment } = useFormats()
  const report = checkedReport(draft)
  const { when } = draft
  const leftOut = report.rows - report.willBeSent
  const clock = say(when.useLocalTime ? 'new.when.theirs' : 'new.when.moscow')
  const isAnyTime = when.hours.length === 24 && when.days.length === 7
  return (
    <Section title={say('new.check.what')}>
      <dl className={styles.say}>
        <Said title={say('new.step.1')} step={1}>
          <b>
            {report.duplicates > 0 && draft.repeats === 'each'
              ? say('new.summary.recipients', { count: report.willBeSent })
              : say('new.check.people', { count: report.willBeSent })}
          </b>{' '}
          {say('new.check.by', {
            ...channelsOf(draft, words),
            parts: say('new.text.parts', { count: report.parts }),
          })}{' '}
          {leftOut > 0 && say('new.check.leftOut', { count: leftOut })}
        </Said>
        <Said title={say('new.step.3')} step={3}>
          <b>
            {when.startAt === '' ? say('new.check.now') : say('new.check.at', { time: moment(when.startAt), clock })}
          </b>
          ,{' '}
          {isAnyTime
            ? say('new.check.anyTime')
            : say('new.check.hours', { days: daysIn(words, when.days), hours: hoursIn(when.hours), clock })}{' '}
          {when.rate !== null && say('new.check.limit', { rate: when.rate, term: say(termNames[when.rateTerm]) })}{' '}
          {when.endAt !== '' && say('new.check.until', { time: moment(when.endAt) })}{' '}
          <EndEstimate draft={draft} offer={offer} />
        </Said>
        <Said title={say('new.check.money')}>
          <b>{say('new.check.held', { price: money(numberOf(report.price), offer.company.currency) })}</b>{' '}
          {draft.cascade && say('new.cascade.most', { price: money(mostOf(report), offer.company.currency) })}{' '}
          {say('new.check.heldText')}
        </Said>
        <Said title={say('new.check.after')}>{say('new.check.afterText')}</Said>
      </dl>
    </Section>
  )
}

function Said({ title, step, children }: { title: string; step?: Step; children: ReactNode }) {
  const { say } = useWords()
  const goTo = useGoTo()
  return (
    <>
      <dt>{title}</dt>
      <dd>
        <p>{children}</p>
        {step && (
          <button type="button" className={`link ${styles.plain}`} onClick={() => goTo(step)}>
            {say('new.change')}
          </button>
        )}
      </dd>
    </>
  )
}

const MORNING = 9
const EVENING = 21
const moscowHour = () => Number(dateFormat('en-GB', { hour: '2-digit', timeZone: 'Europe/Moscow' })(new Date()))

function Warnings({ use: { draft }, offer }: StepProps) {
  const { say } = useWords()
  const { money } = useFormats()
  const report = checkedReport(draft)
  const { currency } = offer.company
  const isTooDear = lacksFunds(draft, offer)
  const hour = moscowHour()
  const isNight = draft.when.startAt === '' && draft.when.hours.includes(hour) && (hour < MORNING || hour >= EVENING)
  const warnings = [
    isTooDear && {
      title: say('new.check.noFunds'),
      text: say('new.check.noFundsText', {
        free: money(numberOf(offer.budget?.free ?? '0'), currency),
        price: money(numberOf(report.price), currency),
      }),
    },
    isNight && { title: say('new.check.night'), text: say('new.check.nightText') },
    ...report.unregistered.map(({ brand, messages }) => ({
      title: say('new.check.noName', { operator: say(`operator.${brand ?? 'OTHER'}`), count: messages }),
      text: say('new.check.noNameText', { name: draft.senderName }),
    })),
  ].filter(warning => warning !== false)
  if (warnings.length === 0) return null
  return (
    <Section title={say('new.check.look')}>
      <ul className={styles.todo}>
        {warnings.map(({ title, text }) => (
          <li key={title}>
            <span className={styles.warn}>
              <Icon name="warn" />
            </span>
            <div>
              <b>{title}</b>
              <p>{text}</p>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Budget({ use: { draft }, offer }: StepProps) {
  const { say } = useWords()
  const { money } = useFormats()
  const { budget, company } = offer
  if (!budget) return null
  const price = numberOf(checkedReport(draft).price)
  const show = (value: number) => money(value, company.currency)
  return (
    <section aria-label={say('new.check.budget')}>
      <div className={styles.sectionHead}>
        <h2>{say('new.check.budget')}</h2>
        <span className="note">
          {budget.budget === null
            ? say('new.check.noBudget')
            : say('new.check.of', { budget: show(numberOf(budget.budget)) })}
        </span>
      </div>
      <dl className={styles.pairs}>
        <dt>{say('new.check.spent')}</dt>
        <dd>{show(numberOf(budget.spent))}</dd>
        <dt>{say('new.check.reserved')}</dt>
        <dd>{show(numberOf(budget.reserved))}</dd>
        <dt>{say('new.check.this')}</dt>
        <dd>{show(price)}</dd>
        {budget.free !== null && (
          <>
            <dt className={styles.total}>{say('new.check.free')}</dt>
            <dd className={styles.total}>{show(numberOf(budget.free) - price)}</dd>
          </>
        )}
      </dl>
    </section>
  )
}

function TestMessage({ use: { draft } }: StepProps) {
  const words = useWords()
  const { say } = words
  const [destination, setDestination] = useState('')
  const test = useMutation({
    mutationFn: (form: SendForm) =>
      ask<SendAnswer>('POST', `/send${placeOf(draft.companyId)}`, form, crypto.randomUUID()),
  })
  const [first] = checkedReport(draft).preview
  if (!first) return null
  const steps = stepsFor(draft, first)
  const send = () => test.mutate({ destination: destination.trim(), steps, shortUrl: draft.shortUrl })
  return (
    <section className={styles.section} aria-label={say('new.check.test')}>
      <div className={styles.sectionHead}>
        <h2>{say('new.check.test')}</h2>
      </div>
      <form
        className={styles.join}
        onSubmit={event => {
          event.preventDefault()
          send()
        }}
      >
        <TextInput
          aria-label={say('new.check.test.number')}
          inputMode="tel"
          autoComplete="tel"
          placeholder="+7 916 000-00-01"
          maxLength={64}
          value={destination}
          onChange={({ currentTarget }) => setDestination(currentTarget.value)}
          error={test.isError && describeProblem(words, test.error)}
        />
        <Button type="submit" disabled={destination.trim() === ''} loading={test.isPending}>
          {say('new.check.test.send')}
        </Button>
      </form>
      <p className={`note small ${styles.below}`}>
        {say(draft.cascade ? 'new.check.test.cascade' : 'new.check.test.help')}
      </p>
      <p className={`${styles.bubble} ${styles.below}`}>{first.text}</p>
      {test.isSuccess && (
        <p className={styles.below} role="status">
          <Status kind="sent">{say('new.check.test.sent')}</Status>
        </p>
      )}
    </section>
  )
}
