import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { BoneRows } from '../parts/lists/bones.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead, usePageTitle } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import { type Decision, DecisionDialog, useDecision } from './decide.tsx'
import { KeysDialog } from './keys-dialog.tsx'
import { Queue } from './queue.tsx'
import styles from './review.module.css'
import {
  type Item,
  isSame,
  type Open,
  openIn,
  queueQuery,
  searchOf,
  senderReviewQuery,
  templateReviewQuery,
} from './review.ts'
import { SenderVerdict } from './sender-verdict.tsx'
import { TemplateVerdict } from './template-verdict.tsx'
import { type ReviewAct, useReviewKeys } from './use-review-keys.ts'

/** The review page of the staff: the queue, the open request and its documents. */
export function ReviewPage() {
  const { say } = useWords()
  const search = useSearch({ from: '/shell/review' })
  const { data, error, refetch } = useQuery(queueQuery)
  if (!data) {
    return (
      <>
        <PageHead title={say('review.title')} />
        {error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={6} />}
      </>
    )
  }
  const open = openIn(search)
  if (open) return <OpenRequest items={data.items} waiting={data.waiting} open={open} />
  if (data.items[0]) return <OpenInAddress item={data.items[0]} />
  return (
    <>
      <PageHead title={say('review.title')} />
      <Blank
        drawing="bird"
        title={say('review.empty.title')}
        text={say(data.isAutomatic ? 'review.empty.automatic' : 'review.empty.text')}
      />
    </>
  )
}

/**
 * The address keeps the request open after another person decides it, so that the keys never act on another request.
 */
function OpenInAddress({ item }: { item: Open }) {
  const navigate = useNavigate()
  const { kind, id } = item
  useEffect(() => void navigate({ to: '/review', search: searchOf({ kind, id }), replace: true }), [navigate, kind, id])
  return <BoneRows rows={6} />
}

type RequestProps = { items: Item[]; waiting: number; open: Open }

function OpenRequest({ items, waiting, open }: RequestProps) {
  const { say } = useWords()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<'reject' | 'deny' | 'keys'>()
  const request = useRequest(open)
  usePageTitle(say('review.title'))

  const show = (item: Open | undefined) => void navigate({ to: '/review', search: item ? searchOf(item) : {} })
  const step = (by: 1 | -1) => {
    const next = neighbourOf(items, open, by)
    if (next || items.length === 0) show(next)
  }
  const decide = useDecision(open, request.data, () => {
    setDialog(undefined)
    show(neighbourOf(items, open, 1) ?? neighbourOf(items, open, -1))
  })
  const mayDecide = request.data?.isWaiting === true && !decide.isPending
  const act = (what: ReviewAct) => {
    if (what === 'help') setDialog('keys')
    else if (what === 'next') step(1)
    else if (what === 'previous') step(-1)
    else if (!mayDecide) return
    else if (what === 'approve') decide.mutate({ decision: 'approve' })
    else {
      decide.reset() // removes the error of the previous request
      setDialog(what)
    }
  }
  useReviewKeys(act)

  const close = () => setDialog(undefined)
  const name = request.data ? nameOf(request.data) : ''
  const decideWith = (decision: Decision, comment: string) => decide.mutate({ decision, comment })
  return (
    <div className={styles.review}>
      <Queue items={items} waiting={waiting} open={open} onHelp={() => setDialog('keys')} />
      <Opened open={open} request={request} isBusy={decide.isPending} onAct={act} />
      {(dialog === 'reject' || dialog === 'deny') && (
        <DecisionDialog
          decision={dialog}
          name={name}
          isBusy={decide.isPending}
          error={decide.error}
          onDecide={decideWith}
          onClose={close}
        />
      )}
      {dialog === 'keys' && <KeysDialog onClose={close} />}
    </div>
  )
}

/** Asks the server for one of the two. */
function useRequest(open: Open) {
  const sender = useQuery({ ...senderReviewQuery(open.id), enabled: open.kind === 'sender' })
  const template = useQuery({ ...templateReviewQuery(open.id), enabled: open.kind === 'template' })
  return open.kind === 'sender' ? sender : template
}

const nameOf = (data: NonNullable<ReturnType<typeof useRequest>['data']>) =>
  'pattern' in data ? `#${data.templateId}` : data.senderName

/** If a request has left the queue, its neighbour is the first request of the queue. */
function neighbourOf(items: Item[], open: Open, by: 1 | -1): Item | undefined {
  const place = items.findIndex(item => isSame(item, open))
  return place < 0 ? items[0] : items[place + by]
}

type OpenedProps = {
  open: Open
  request: ReturnType<typeof useRequest>
  isBusy: boolean
  onAct(what: ReviewAct): void
}

function Opened({ open, request: { data, error, refetch }, isBusy, onAct }: OpenedProps) {
  const { say } = useWords()
  if (!data) {
    return (
      <div className={styles.verdict}>
        {error ? (
          <>
            <ErrorState error={error} onRetry={refetch} />
            <Button className={styles.first ?? ''} onClick={() => onAct('next')}>
              {say('review.first')}
            </Button>
          </>
        ) : (
          <BoneRows rows={6} />
        )}
      </div>
    )
  }
  if ('pattern' in data) return <TemplateVerdict key={open.id} data={data} isBusy={isBusy} onAct={onAct} />
  return <SenderVerdict key={open.id} data={data} isBusy={isBusy} onAct={onAct} />
}
