import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Icon } from '../../parts/content/icon.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useWords } from '../../words/words.ts'
import { Details } from '../message/details.tsx'
import { LifeLine } from '../message/life-line.tsx'
import { SendAgain } from '../message/send-again.tsx'
import { Bubble } from '../message/texts.tsx'
import { WhatItMeans } from '../message/what-it-means.tsx'
import { MessageStatus } from '../message-status.tsx'
import { type Life, lifeQuery, useChosenCompany } from '../messages.ts'
import { groupedNumber } from '../names.ts'
import styles from './messages.module.css'

type Props = { uuid: string; onStep(by: 1 | -1): void; onClose(): void }

/** A message beside the list: its status, its text and its main events. */
export function MessagePanel({ uuid, onStep, onClose }: Props) {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(lifeQuery(uuid, useChosenCompany()))
  return (
    <aside className={styles.panel} aria-label={say('message.panel')}>
      <div className={styles.panelHead}>
        <h2>{data ? groupedNumber(data.destination) : '\u00a0'}</h2>
        <IconButton icon="up" label={say('message.previous')} onClick={() => onStep(-1)} />
        <IconButton icon="down" label={say('message.next')} onClick={() => onStep(1)} />
        <IconButton icon="cross" label={say('app.close')} onClick={onClose} />
      </div>
      {data ? <Content life={data} /> : error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={4} />}
    </aside>
  )
}

function Content({ life }: { life: Life }) {
  const { say } = useWords()
  const step = life.steps.find(({ uuid }) => uuid === life.uuid)
  return (
    <>
      <p>
        <MessageStatus status={life.status} isPill />
      </p>
      <WhatItMeans errorCode={life.errorCode} />
      <Bubble text={life.text} />
      {step && <LifeLine life={life} step={step} isBrief />}
      <Details life={life} isBrief />
      <div className={styles.whole}>
        <Button
          renderRoot={props => <Link to="/messages/$uuid" params={{ uuid: life.uuid }} {...props} />}
          leftSection={<Icon name="arrow" />}
        >
          {say('message.whole')}
        </Button>
        <SendAgain life={life} />
      </div>
    </>
  )
}

function IconButton({ icon, label, onClick }: { icon: 'up' | 'down' | 'cross'; label: string; onClick(): void }) {
  return (
    <button type="button" className={styles.iconButton} aria-label={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  )
}
