import { ActionIcon, Button, NumberInput, Switch } from '@mantine/core'
import type { ComponentProps } from 'react'
import type { VerifierChannel } from '../../../../src/domain/verifiers/verifier.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import type { Offer } from '../verification.ts'
import { useChannelOrder } from './channel-order.ts'
import type { FormProps } from './draft.ts'
import { SenderField } from './sender-field.tsx'

type Props = { form: FormProps; offer: Offer }

const USUAL_FALLBACK_SECONDS = 30

/** The channels in their order, each with its sender name, and the switch for the fallback. */
export function ChannelsField({ form, offer }: Props) {
  const { say } = useWords()
  const { draft, setting, wrong } = form
  const { channels } = draft.settings
  const order = useChannelOrder(channels, next => setting({ channels: next }))
  return (
    <Section title={say('verification.channels')} note={say('verification.channels.note')}>
      <ol className={styles.channels} ref={order.list}>
        {channels.map(channel => (
          <ChannelRow key={channel} form={form} offer={offer} channel={channel} order={order} />
        ))}
      </ol>
      {wrong('channels') && (
        <p className={styles.fault} role="alert">
          {wrong('channels')}
        </p>
      )}
      <OtherChannels form={form} offer={offer} />
      <FallbackFields form={form} />
      <p className="note small">
        {draft.page ? say('verification.channels.widgetNote') : say('verification.channels.askNote')}
      </p>
    </Section>
  )
}

type RowProps = Props & { channel: VerifierChannel; order: ReturnType<typeof useChannelOrder> }

function ChannelRow(props: RowProps) {
  const { form, offer, channel, order } = props
  const { say } = useWords()
  const { channel: nameOf } = useTrafficNames()
  return (
    <li
      draggable
      data-dragged={order.dragged === channel}
      onDragStart={event => order.start(event, channel)}
      onDragOver={event => order.over(event, channel)}
      onDragEnd={order.end}
    >
      <span className={styles.handle} aria-hidden="true">
        <Icon name="turn" />
      </span>
      <div className={styles.channelName}>
        <b>{nameOf(channel)}</b>
        <span>{say(`verification.channels.${channel}`)}</span>
      </div>
      <SenderField form={form} offer={offer} channel={channel} />
      <RowButtons {...props} />
    </li>
  )
}

function RowButtons({ form: { draft, setting }, channel, order }: RowProps) {
  const { say } = useWords()
  const { channel: nameOf } = useTrafficNames()
  const { channels } = draft.settings
  const place = channels.indexOf(channel)
  const name = { channel: nameOf(channel) }
  return (
    <div className={styles.moves}>
      <RowButton
        icon="up"
        aria-label={say('verification.channels.up', name)}
        data-move={`${channel} up`}
        disabled={place === 0}
        onClick={() => order.move(channel, -1)}
      />
      <RowButton
        icon="down"
        aria-label={say('verification.channels.down', name)}
        data-move={`${channel} down`}
        disabled={place === channels.length - 1}
        onClick={() => order.move(channel, 1)}
      />
      <RowButton
        icon="cross"
        aria-label={say('verification.channels.remove', name)}
        onClick={() => setting({ channels: channels.filter(each => each !== channel) })}
      />
    </div>
  )
}

type RowButtonProps = {
  icon: ComponentProps<typeof Icon>['name']
  'aria-label': string
  'data-move'?: string
  disabled?: boolean
  onClick(): void
}

const RowButton = ({ icon, ...props }: RowButtonProps) => (
  <ActionIcon variant="subtle" color="gray" {...props}>
    <Icon name={icon} />
  </ActionIcon>
)

/** Buttons that add the channels that are not used yet. */
function OtherChannels({ form: { draft, setting }, offer }: Props) {
  const { say } = useWords()
  const { channel: nameOf } = useTrafficNames()
  const { channels } = draft.settings
  const others = offer.channels.filter(channel => !channels.includes(channel))
  if (others.length === 0) return null
  return (
    <div className={styles.add}>
      <span className="note small">{say('verification.channels.add')}</span>
      {others.map(channel => (
        <Button
          key={channel}
          leftSection={<Icon name="plus" />}
          onClick={() => setting({ channels: [...channels, channel] })}
        >
          {nameOf(channel)}
        </Button>
      ))}
    </div>
  )
}

function FallbackFields({ form: { draft, setting, wrong } }: { form: FormProps }) {
  const { say } = useWords()
  const { fallbackSeconds } = draft.settings
  return (
    <div className={styles.fallback}>
      <Switch
        label={say('verification.fallback')}
        description={say('verification.fallback.help')}
        error={fallbackSeconds === null ? wrong('fallback') : undefined}
        checked={fallbackSeconds !== null}
        onChange={({ currentTarget }) =>
          setting({ fallbackSeconds: currentTarget.checked ? USUAL_FALLBACK_SECONDS : null })
        }
      />
      {fallbackSeconds !== null && (
        <NumberInput
          className={styles.short}
          label={say('verification.fallback.after')}
          value={fallbackSeconds}
          min={0}
          step={10}
          error={wrong('fallback')}
          onChange={value => setting({ fallbackSeconds: Number(value) })}
        />
      )}
    </div>
  )
}
