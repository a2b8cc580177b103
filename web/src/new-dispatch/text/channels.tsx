import { useState } from 'react'
import type { ClientChannel } from '../../../../src/base/channel-types.ts'
import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import { emptyStep } from '../../send/send.ts'
import { useWords } from '../../words/words.ts'
import { Choice } from '../choice.tsx'
import { type Draft, withSteps } from '../draft.ts'
import styles from '../new-dispatch.module.css'
import { needsApproval, numberOf } from '../offer.ts'
import type { StepProps } from '../step.tsx'

const usual: ClientChannel[] = ['SMS', 'VIBER', 'WHATSAPP', 'TELEGRAM', 'VK']
const further: ClientChannel[] = ['TEXT_TO_SPEECH', 'PUSH', 'WEASY']
export const dispatchChannels = [...usual, ...further]
const CASCADE = 'CASCADE'

/** One channel, or several one after the other. */
export function Channels({ use: { draft, change }, offer }: StepProps) {
  const { say } = useWords()
  const { money } = useFormats()
  const [isMore, setIsMore] = useState(further.includes(draft.channelType))
  const priceOf = (channel: ClientChannel) => {
    const prices =
      channel === 'SMS' ? offer.shared.prices.map(({ partPrice }) => partPrice) : [offer.channelPrices[channel]]
    const known = prices.flatMap(price => (price === undefined ? [] : [numberOf(price)]))
    if (known.length === 0) return ''
    const least = money(Math.min(...known), offer.company.currency)
    return known.length > 1 ? say('new.channel.from', { price: least }) : least
  }
  const choose = (channel: ClientChannel | typeof CASCADE) =>
    change(channel === CASCADE ? cascadeOf(draft) : plainOf(draft, channel))
  return (
    <Section title={say('new.channel')} note={say('new.channel.note')}>
      <Choice
        label={say('new.channel')}
        value={draft.cascade ? CASCADE : draft.channelType}
        onChange={choose}
        options={[
          ...[...usual, ...(isMore ? further : [])].map(channel => ({
            value: channel,
            title: say(`channel.${channel}`),
            text: priceOf(channel),
          })),
          { value: CASCADE, title: say('new.cascade'), text: say('new.cascade.text') },
        ]}
      />
      {!isMore && (
        <button type="button" className={`link ${styles.plain} ${styles.below}`} onClick={() => setIsMore(true)}>
          {say('new.channel.more')}
        </button>
      )}
    </Section>
  )
}

/** Begins a cascade with Viber, then the message written so far: the most frequent cascade. */
function cascadeOf(draft: Draft): Partial<Draft> {
  if (draft.cascade) return {}
  const { channelType, senderName, text } = draft
  const second = channelType === 'VIBER' ? 'SMS' : channelType
  return withSteps([
    { ...emptyStep('VIBER'), text, senderName: channelType === 'VIBER' ? senderName : '' },
    { ...emptyStep(second), text, senderName: channelType === 'VIBER' ? '' : senderName },
  ])
}

function plainOf(draft: Draft, channelType: ClientChannel): Partial<Draft> {
  const text = draft.text || (draft.cascade?.find(step => step.text !== '')?.text ?? '')
  const senderName = draft.cascade || needsApproval(channelType) ? '' : draft.senderName
  return { cascade: undefined, channelType, senderName, text }
}
