import { useFormats } from '../format.ts'
import { numberOf } from '../new-dispatch/offer.ts'
import columns from '../parts/content/columns.module.css'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Section } from '../parts/content/section.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { useWords } from '../words/words.ts'
import styles from './send.module.css'
import type { Price, SendDraft, StepDraft } from './send.ts'

/** The message as a phone shows it, step by step, and its price. */
export function Preview({ draft: { steps }, price }: { draft: SendDraft; price: Price | undefined }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  return (
    <aside className={columns.aside} aria-label={say('send.preview')}>
      <Section title={say('send.preview')}>
        {steps.map((step, at) => (
          <figure key={at} className={styles.phone}>
            <figcaption>
              <b>{step.senderName || '…'}</b>
              <span>{channel(step.channelType)}</span>
            </figcaption>
            <Shown step={step} />
          </figure>
        ))}
      </Section>
      <Cost steps={steps} price={price} />
    </aside>
  )
}

function Shown({ step: { channelType, text, buttonText, image } }: { step: StepDraft }) {
  const { say } = useWords()
  if (channelType === 'FLASHCALL')
    return <p className={styles.bubble}>{say('send.preview.call', { code: text || '····' })}</p>
  return (
    <div className={styles.bubble}>
      {channelType === 'VIBER' && image.trim() !== '' && <p className="note small">{say('send.preview.image')}</p>}
      <p>{text || '…'}</p>
      {channelType === 'VIBER' && buttonText.trim() !== '' && <span className={styles.button}>{buttonText}</span>}
    </div>
  )
}

/** The company pays for each sent step of a cascade, so the highest price is the sum of all steps. */
function Cost({ steps, price }: { steps: StepDraft[]; price: Price | undefined }) {
  const { say } = useWords()
  const { money } = useFormats()
  const { operator, channel } = useTrafficNames()
  const priced = price?.steps.flatMap(step => ('price' in step ? [step] : [])) ?? []
  const [first] = priced
  if (!price || !first) return <p className="note small">{say('send.price.later')}</p>
  const amount = (value: string) => money(numberOf(value), price.currency)
  const sum = priced.reduce((total, step) => total + numberOf(step.price), 0)
  return (
    <Section title={say('send.price')}>
      <Pairs>
        <Pair name={say('send.operator')}>{operator(first.operator)}</Pair>
        {price.steps.map((step, at) => (
          <Pair key={at} name={`${channel(steps[at]?.channelType ?? 'SMS')}`}>
            {'price' in step
              ? `${say('new.text.parts', { count: step.parts })}, ${amount(step.price)}`
              : say('send.price.refused')}
          </Pair>
        ))}
        {priced.length > 1 && (
          <Pair name={say('send.price.atMost')} isSum>
            {money(sum, price.currency)}
          </Pair>
        )}
      </Pairs>
    </Section>
  )
}
