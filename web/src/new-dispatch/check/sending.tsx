import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { DraftAnswer } from '../../../../src/http/cabinet/dispatches/new-dispatch.ts'
import { ask, NoAnswer, ServerError } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Blank } from '../../parts/pages/blank.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { keyOf } from '../../problems.ts'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { type Draft, sendingOf } from '../draft.ts'
import { keptFile } from '../kept-draft.ts'
import styles from '../new-dispatch.module.css'
import { formOf, madeBy, numberOf, readingOf } from '../offer.ts'
import { placeOf } from '../offer-query.ts'
import { postUntilAnswered } from '../recipients/reading/post.ts'
import { runTask } from '../recipients/reading/reader.ts'
import { apiAddress } from '../recipients/recipients-step.tsx'
import { useGoTo } from '../step.tsx'
import type { DraftUse } from '../use-draft.ts'

type State =
  | { phase: 'uploading'; done: number; isWaiting: boolean }
  | { phase: 'starting' }
  | { phase: 'started'; dispatchId: number; price: string; currency: string; count: number }
  | { phase: 'price changed'; now: string; currency: string }

/**
 * Uploads the recipients and starts the dispatch. It continues an upload that an earlier page interrupted: the server
 * says how many recipients the dispatch has.
 */
export function Sending({ use }: { use: DraftUse }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { state, sendFor } = useSending(use)
  const total = use.draft.checked?.report.willBeSent ?? 0
  const goBack = useGoBack(use)
  if (state.phase === 'started') return <Started state={state} use={use} />
  if (use.draft.sending?.problem !== undefined) return <Failed use={use} goBack={goBack} />
  return (
    <>
      <PageHead title={use.draft.name || say('new.title')} note={say('new.sending.text')} />
      {state.phase === 'uploading' && (
        <div className={styles.sending}>
          <h2>{say('new.sending.title')}</h2>
          <progress max={total} value={state.done} aria-label={say('new.sending.title')} />
          <p role="status">
            {say('new.sending.count', { done: number(state.done), total: number(total) })}
            {state.isWaiting && <span className={styles.fault}> {say('new.file.waiting')}</span>}
          </p>
        </div>
      )}
      {state.phase === 'starting' && <h2 role="status">{say('new.sending.starting')}</h2>}
      {state.phase === 'price changed' && (
        <PriceChanged use={use} now={state.now} currency={state.currency} sendFor={sendFor} goBack={goBack} />
      )}
    </>
  )
}

/**
 * Leads back to the last step. The created dispatch stays. If the person changes nothing, the next attempt continues
 * it, otherwise it creates another dispatch.
 */
function useGoBack({ draft, store }: DraftUse) {
  const goTo = useGoTo()
  return async () => {
    const { dispatchId } = sendingOf(draft)
    await store({ sending: undefined, made: dispatchId === undefined ? undefined : { dispatchId, of: madeBy(draft) } })
    goTo(4)
  }
}

const FILE_GONE = 'The file is gone'
class FileGone extends Error {}

function useSending({ draft, store, forget }: DraftUse) {
  const { personId } = useMe()
  const client = useQueryClient()
  const [state, setState] = useState<State>({ phase: 'uploading', done: 0, isWaiting: false })
  const latest = useRef({ draft, store, forget })
  latest.current = { draft, store, forget }
  const { price, problem } = draft.sending ?? { price: '', problem: undefined }

  useEffect(() => {
    // After a refusal only the person tries again, not a reload.
    if (price === '' || problem !== undefined) return
    const abort = new AbortController()
    const isHere = () => !abort.signal.aborted
    const show = (next: State) => isHere() && setState(next)

    const run = async () => {
      const { draft, store } = latest.current
      const begun = await begin(draft, () => show({ phase: 'uploading', done: 0, isWaiting: true }))
      await store({ sending: { price, dispatchId: begun.dispatchId } })
      if (begun.status === 'CREATED') await upload(draft, begun, personId, abort.signal, show)
      if (!isHere()) return
      show({ phase: 'starting' })
      const ready = await patiently(() => draftOf(draft, begun.dispatchId))
      if (ready.status === 'CREATED' && ready.price !== price)
        return show({ phase: 'price changed', now: ready.price, currency: ready.currency })
      await startFor(draft, begun.dispatchId, price)
      if (!isHere()) return
      const { currency, recipients: count } = ready
      setState({ phase: 'started', dispatchId: begun.dispatchId, price, currency, count })
      await latest.current.forget()
      void client.invalidateQueries()
    }
    run().catch(error => {
      if (isHere())
        void latest.current.store({ sending: { ...sendingOf(latest.current.draft), problem: problemIn(error) } })
    })
    return () => abort.abort()
  }, [price, problem, personId, client])

  const sendFor = (now: string) => void store({ sending: { ...sendingOf(draft), price: now } })
  return { state, sendFor }
}

const draftOf = (draft: Draft, dispatchId: number) =>
  ask<DraftAnswer>('GET', `/new-dispatch/${dispatchId}${placeOf(draft.companyId)}`)

/** The dispatch that this draft created, or a new one. The idempotency key prevents a second dispatch. */
function begin(draft: Draft, onWaiting: () => void): Promise<DraftAnswer> {
  const known = draft.sending?.dispatchId
  if (known !== undefined) return patiently(() => draftOf(draft, known))
  const place = { api: apiAddress(), companyId: draft.companyId }
  return postUntilAnswered<DraftAnswer>(place, '/new-dispatch', formOf(draft), { key: `${draft.id}:create`, onWaiting })
}

const startFor = (draft: Draft, dispatchId: number, price: string) =>
  postUntilAnswered(
    { api: apiAddress(), companyId: draft.companyId },
    `/new-dispatch/${dispatchId}/start`,
    { price },
    { onWaiting: () => {} },
  )

/** The message of the server, or the reason why the file is missing. */
function problemIn(error: unknown): string {
  if (error instanceof FileGone) return FILE_GONE
  return error instanceof Error ? error.message : String(error)
}

const PAUSE_MS = 3000

/** Repeats a request until the server answers. */
async function patiently<T>(question: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await question()
    } catch (error) {
      const mayPass = error instanceof NoAnswer || (error instanceof ServerError && error.status >= 500)
      if (!mayPass) throw error
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    }
  }
}

async function upload(
  draft: Draft,
  { dispatchId, recipients }: Pick<DraftAnswer, 'dispatchId' | 'recipients'>,
  personId: number,
  signal: AbortSignal,
  show: (state: State) => void,
) {
  if (recipients > 0 && recipients === draft.checked?.report.willBeSent) return
  const file = await keptFile(personId)
  if (!file || !draft.source || !draft.checked) throw new FileGone()
  let done = recipients
  show({ phase: 'uploading', done, isWaiting: false })
  await runTask(
    {
      kind: 'upload',
      reading: readingOf(draft, file),
      leftOut: draft.checked.report.leftOut,
      place: { api: apiAddress(), companyId: draft.companyId },
      dispatchId,
      total: draft.checked.report.willBeSent,
      from: recipients,
      key: draft.id,
    },
    {
      signal,
      onProgress: now => {
        done = now
        show({ phase: 'uploading', done, isWaiting: false })
      },
      onWaiting: () => show({ phase: 'uploading', done, isWaiting: true }),
    },
  )
}

function Started({ state, use }: { state: Extract<State, { phase: 'started' }>; use: DraftUse }) {
  const { say } = useWords()
  const { money } = useFormats()
  const goTo = useGoTo()
  const { dispatchId, price, currency, count } = state
  const another = async () => {
    await use.discard()
    goTo(1)
  }
  return (
    <>
      <PageHead title={use.draft.name} />
      <Blank
        drawing="bird"
        title={say('new.sending.started', { count })}
        text={say('new.sending.startedText', { id: dispatchId, price: money(numberOf(price), currency) })}
      >
        <div className={styles.acts}>
          <Button
            variant="filled"
            renderRoot={props => <Link {...props} to="/dispatches/$dispatchId" params={{ dispatchId }} />}
          >
            {say('new.sending.watch')}
          </Button>
          <Button onClick={another}>{say('new.sending.another')}</Button>
        </div>
      </Blank>
    </>
  )
}

type ChangedProps = { use: DraftUse; now: string; currency: string; sendFor(price: string): void; goBack(): void }

function PriceChanged({ use, now, currency, sendFor, goBack }: ChangedProps) {
  const { say } = useWords()
  const { money } = useFormats()
  const show = (price: string) => money(numberOf(price), currency)
  return (
    <Blank
      drawing="broken"
      title={say('new.sending.priceChanged', { now: show(now), before: show(sendingOf(use.draft).price) })}
      text={say('new.sending.priceText')}
    >
      <div className={styles.acts}>
        <Button variant="filled" onClick={() => sendFor(now)}>
          {say('new.sending.sendFor', { price: show(now) })}
        </Button>
        <Button onClick={goBack}>{say('new.sending.backToCheck')}</Button>
      </div>
    </Blank>
  )
}

/** The dispatch stays in the list with its uploaded recipients. The person can start it there or here. */
function Failed({ use, goBack }: { use: DraftUse; goBack(): void }) {
  const { say } = useWords()
  const goTo = useGoTo()
  const { name } = use.draft
  const { price, dispatchId, problem = '' } = sendingOf(use.draft)
  const key = keyOf(problem)
  const reason = key ? say(key) : problem === FILE_GONE ? say('new.sending.fileGone') : problem
  const startAnew = async () => {
    await use.discard()
    goTo(1)
  }
  return (
    <>
      <PageHead
        title={name || say('new.title')}
        actions={<Button onClick={startAnew}>{say('new.sending.another')}</Button>}
      />
      <Blank
        drawing="broken"
        title={say('new.sending.failed')}
        text={dispatchId === undefined ? reason : `${reason} ${say('new.sending.draftStays')}`}
      >
        <div className={styles.acts}>
          <Button variant="filled" onClick={() => use.store({ sending: { price, dispatchId } })}>
            {say('new.sending.tryAgain')}
          </Button>
          {dispatchId !== undefined && (
            <Button renderRoot={props => <Link {...props} to="/dispatches/$dispatchId" params={{ dispatchId }} />}>
              {say('new.sending.openDraft')}
            </Button>
          )}
          <Button onClick={goBack}>{say('new.sending.backToCheck')}</Button>
        </div>
      </Blank>
    </>
  )
}
