import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LifeLine } from '../messages/message/life-line.tsx'
import { Bubble } from '../messages/message/texts.tsx'
import { WhatItMeans } from '../messages/message/what-it-means.tsx'
import { MessageStatus } from '../messages/message-status.tsx'
import { type Life, lifeQuery } from '../messages/messages.ts'
import { groupedNumber } from '../messages/names.ts'
import { Section } from '../parts/content/section.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useWords } from '../words/words.ts'
import styles from './send.module.css'

const ASK_EVERY_MS = 1000
/** The page asks for a message without a final status less and less often. */
const SELDOM_MS = 10_000
const SOON_MS = 60_000

type Props = { uuid: string; companyId: number; onAnother(): void }

/** The status of the sent message, updated live. */
export function SentMessage({ uuid, companyId, onAnother }: Props) {
  const { say } = useWords()
  const { data, error, refetch } = useQuery({
    ...lifeQuery(uuid, companyId),
    refetchInterval: ({ state: { data: life } }) => (life && hasEnded(life) ? false : pauseFor(life)),
  })
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <BoneRows rows={4} />
  return (
    <div className={styles.sent} aria-live="polite">
      <Section title={groupedNumber(data.destination)} end={<MessageStatus status={data.status} isPill />}>
        <WhatItMeans errorCode={data.errorCode} />
        <Bubble text={data.text} />
        {data.steps.map(step => (
          <LifeLine key={step.uuid} life={data} step={step} isBrief />
        ))}
        <div className={styles.foot}>
          <Button variant="filled" onClick={onAnother}>
            {say('send.another')}
          </Button>
          <Button renderRoot={props => <Link to="/messages/$uuid" params={{ uuid }} {...props} />}>
            {say('message.whole')}
          </Button>
        </div>
      </Section>
    </div>
  )
}

const hasEnded = ({ steps }: Life) =>
  steps.every(({ status }) => ['delivered', 'undelivered', 'unsent'].includes(status))

const pauseFor = (life: Life | undefined) =>
  life && Date.now() - new Date(life.acceptedAt).getTime() > SOON_MS ? SELDOM_MS : ASK_EVERY_MS
