import { NativeSelect, TextInput } from '@mantine/core'
import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { CompanyField } from '../company-field.tsx'
import styles from '../new-dispatch.module.css'
import { faultOfText, numberOf, type Offer, samplesOf, statesOf } from '../offer.ts'
import { Foot, type StepProps } from '../step.tsx'
import { TextSummary } from '../summary.tsx'
import { CascadeSteps } from './cascade-steps.tsx'
import { Channels } from './channels.tsx'
import { partsIn, rendered } from './message-text.ts'
import { SenderName } from './sender-name.tsx'
import { TextEditor } from './text-editor.tsx'

/** Step 1: company, channel, sender name, text. */
export function TextStep({ use, offer }: StepProps) {
  const { say } = useWords()
  const { draft, change } = use
  const isOfCompany = useMe().kind === 'COMPANY'
  const fault = faultOfText(draft)
  return (
    <>
      <div className={styles.columns}>
        <div>
          <div className={styles.two}>
            {!isOfCompany && <CompanyField use={use} companyId={offer.company.companyId} />}
            <TextInput
              label={say('new.name')}
              description={say('new.name.help')}
              maxLength={255}
              value={draft.name}
              onChange={({ currentTarget }) => change({ name: currentTarget.value })}
            />
          </div>
          <Channels use={use} offer={offer} />
          {draft.cascade ? (
            <CascadeSteps use={use} offer={offer} />
          ) : (
            <>
              <SenderName use={use} offer={offer} />
              <Section title={say('new.text')} end={<Templates use={use} offer={offer} />}>
                <TextEditor draft={draft} change={change} />
              </Section>
            </>
          )}
        </div>
        <TextSummary draft={draft} offer={offer} />
      </div>
      <Foot step={1} fault={fault && say(fault)} sum={<PriceRange draft={draft} offer={offer} />} />
    </>
  )
}

const OWN = ''

function Templates({ use: { draft, change }, offer }: StepProps) {
  const { say } = useWords()
  const fitting = offer.templates.filter(({ channelType }) => channelType === draft.channelType)
  if (fitting.length === 0) return null
  const choose = (id: string) => {
    const template = fitting.find(({ templateId }) => String(templateId) === id)
    if (template) change({ text: template.text, senderName: template.senderName ?? draft.senderName })
  }
  const chosen = fitting.find(({ text }) => text === draft.text)
  return (
    <NativeSelect
      aria-label={say('new.text.template')}
      value={chosen ? String(chosen.templateId) : OWN}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
      data={[
        { value: OWN, label: say('new.text.own') },
        ...fitting.map(({ templateId, text }) => ({ value: String(templateId), label: text.slice(0, 60) })),
      ]}
    />
  )
}

function PriceRange({ draft, offer }: { draft: StepProps['use']['draft']; offer: Offer }) {
  const { say } = useWords()
  const { money } = useFormats()
  const parts = partsIn(draft.channelType, rendered(draft.text, samplesOf(draft)))
  const prices = statesOf(offer, draft.channelType, draft.senderName).flatMap(({ partPrice }) =>
    partPrice === null ? [] : [numberOf(partPrice) * parts],
  )
  if (prices.length === 0 || draft.cascade) return null
  return (
    <>
      <b>{say('new.channel.from', { price: money(Math.min(...prices), offer.company.currency) })}</b>
      <span>{say('new.text.parts', { count: parts })}</span>
    </>
  )
}
