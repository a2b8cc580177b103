import { ActionIcon, Button, NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core'
import { type DragEvent, useRef, useState } from 'react'
import type { VerifierChannel } from '../../../../src/domain/verifiers/verifier.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import type { Offer } from '../verification.ts'
import type { FormProps } from './draft.ts'

type Props = { form: FormProps; offer: Offer }

const USUAL_FALLBACK_SECONDS = 30

/** The channels in their order, each with its sender name, and the switch for the fallback. */
export function ChannelsField({ form, offer }: Props) {
  const { say } = useWords()
  const { channel: nameOf } = useTrafficNames()
  const { draft, setting, wrong } = form
  const { channels, fallbackSeconds } = draft.settings
  const order = useOrder(channels, next => setting({ channels: next }))
  const others = offer.channels.filter(channel => !channels.includes(channel))
  return (
    <Section title={say('verification.channels')} note={say('verification.channels.note')}>
      <ol className={styles.channels} ref={order.list}>
        {channels.map((channel, place) => (
          <li
            key={channel}
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
            <div className={styles.moves}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={say('verification.channels.up', { channel: nameOf(channel) })}
                data-move={`${channel} up`}
                disabled={place === 0}
                onClick={() => order.move(channel, -1)}
              >
                <Icon name="up" />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={say('verification.channels.down', { channel: nameOf(channel) })}
                data-move={`${channel} down`}
                disabled={place === channels.length - 1}
                onClick={() => order.move(channel, 1)}
              >
                <Icon name="down" />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={say('verification.channels.remove', { channel: nameOf(channel) })}
                onClick={() => setting({ channels: channels.filter(each => each !== channel) })}
              >
                <Icon name="cross" />
              </ActionIcon>
            </div>
          </li>
        ))}
      </ol>
      {wrong('channels') && (
        <p className={styles.fault} role="alert">
          {wrong('channels')}
        </p>
      )}
      {others.length > 0 && (
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
      )}
      <div className={styles.fallback}>
        <Switch
          label={say('verification.fallback')}
          description={say('verification.fallback.help')}
          error={wrong('fallback') && fallbackSeconds === null ? wrong('fallback') : undefined}
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
      <p className="note small">
        {draft.page ? say('verification.channels.widgetNote') : say('verification.channels.askNote')}
      </p>
    </Section>
  )
}

/** A person changes the order by dragging a row onto another row, or with the arrow buttons, which keep the focus. */
function useOrder(channels: VerifierChannel[], onChange: (channels: VerifierChannel[]) => void) {
  const list = useRef<HTMLOListElement>(null)
  const [dragged, setDragged] = useState<VerifierChannel>()
  const put = (channel: VerifierChannel, place: number) => {
    const rest = channels.filter(each => each !== channel)
    onChange([...rest.slice(0, place), channel, ...rest.slice(place)])
  }
  const focusOn = (channel: VerifierChannel, way: 'up' | 'down') =>
    requestAnimationFrame(() => {
      const buttons = [way, way === 'up' ? 'down' : 'up'].map(each =>
        list.current?.querySelector<HTMLButtonElement>(`[data-move="${channel} ${each}"]`),
      )
      buttons.find(button => button && !button.disabled)?.focus()
    })
  return {
    list,
    dragged,
    start: (event: DragEvent, channel: VerifierChannel) => {
      // A drag that begins inside of an input selects its text.
      if (event.target instanceof HTMLInputElement) return event.preventDefault()
      event.dataTransfer.effectAllowed = 'move'
      event.dataTransfer.setData('text/plain', channel)
      setDragged(channel)
    },
    over: (event: DragEvent, channel: VerifierChannel) => {
      if (dragged === undefined) return
      event.preventDefault()
      if (dragged !== channel) put(dragged, channels.indexOf(channel))
    },
    end: () => setDragged(undefined),
    move: (channel: VerifierChannel, by: -1 | 1) => {
      put(channel, channels.indexOf(channel) + by)
      focusOn(channel, by < 0 ? 'up' : 'down')
    },
  }
}

type SenderProps = Props & { channel: VerifierChannel }

/** A select with the registered names, or a text field for channels without registration. */
function SenderField({ form: { draft, setting, wrong }, offer, channel }: SenderProps) {
  const { say } = useWords()
  const { channel: nameOf } = useTrafficNames()
  const { senders } = draft.settings
  const usual = offer.defaultSenders[channel]
  const change = (name: string) => setting({ senders: { ...senders, [channel]: name || undefined } })
  const label = say('verification.channels.sender', { channel: nameOf(channel) })
  const error = wrong(`senders must give a name for ${channel}`)
  if (!offer.registered.includes(channel))
    return (
      <TextInput
        aria-label={label}
        placeholder={usual}
        maxLength={64}
        value={senders[channel] ?? ''}
        error={error}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
    )
  const names = offer.names.filter(name => name.channelType === channel)
  const chosen = senders[channel]
  const found = names.find(({ senderName }) => senderName === chosen)
  const isStrange = chosen !== undefined && chosen !== usual && !found
  return (
    <NativeSelect
      aria-label={label}
      value={chosen ?? ''}
      error={
        error ??
        ((isStrange || found?.isUsable === false) && say('verification.channels.cannot', { channel: nameOf(channel) }))
      }
      onChange={({ currentTarget }) => change(currentTarget.value)}
      data={[
        {
          value: '',
          label: usual ? say('verification.channels.usual', { name: usual }) : say('verification.channels.noName'),
        },
        ...names.map(({ senderName, isUsable }) => ({
          value: senderName,
          label: isUsable ? senderName : say('verification.channels.notReady', { name: senderName }),
        })),
        ...(isStrange ? [{ value: chosen, label: say('verification.channels.unknown', { name: chosen }) }] : []),
      ]}
    />
  )
}
