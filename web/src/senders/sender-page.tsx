import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { brands } from '../../../src/domain/numbering/brand.ts'
import type { NameChange } from '../../../src/http/cabinet/senders/senders.ts'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import { numberOf } from '../new-dispatch/offer.ts'
import { Band, Said } from '../parts/content/band.tsx'
import columns from '../parts/content/columns.module.css'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Section } from '../parts/content/section.tsx'
import { useKept } from '../parts/forms/kept-form.ts'
import { BoneRows } from '../parts/lists/bones.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead, usePageTitle } from '../parts/pages/page-head.tsx'
import { ReviewHistory } from '../parts/review/review-history.tsx'
import { ReviewState } from '../parts/review/review-state.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { useSenderChange } from './changes.ts'
import { addressOf } from './documents.ts'
import { RefusalBand } from './refusal-band.tsx'
import { SenderActions } from './sender-actions.tsx'
import { type SenderDraft, SenderForm } from './sender-form.tsx'
import styles from './sender-page.module.css'
import { bestOf, type SenderPageData, senderQuery, servesAll } from './senders.ts'

/** One registration of a sender name: its review status, the comments, and the submitted request. */
export function SenderPage() {
  return <OneCompany>{companyId => <Loaded companyId={companyId} />}</OneCompany>
}

function Loaded({ companyId }: { companyId: number }) {
  const { senderId } = useParams({ from: '/shell/senders/$senderId' })
  const { edit } = useSearch({ from: '/shell/senders/$senderId' })
  const { data, error, refetch } = useQuery(senderQuery(companyId, senderId))
  const mayChange = useMe().rights.includes('settings.change')
  if (!data) return error ? <ErrorState level={1} error={error} onRetry={refetch} /> : <BoneRows rows={6} />
  if (edit && mayChange && data.changeable.includes('senderName'))
    return <EditSender companyId={companyId} sender={data} />
  return <Sender companyId={companyId} sender={data} mayChange={mayChange} />
}

type Props = { companyId: number; sender: SenderPageData }

/** The form keeps its first values, so that it reports a change by another person instead of overwriting it. */
function EditSender({ companyId, sender: now }: Props) {
  const { say } = useWords()
  const [sender] = useState(now)
  const navigate = useNavigate()
  const { senderId, senderName, status } = sender
  const isBack = status === 'REJECTED'
  const change = useSenderChange(
    (form: NameChange) => ask<void>('PATCH', `/senders/${senderId}?companyId=${companyId}`, form),
    () => say(isBack ? 'sender.mend.done' : 'sender.edit.done'),
  )
  const kept = useKept('edit', draftOf(sender))
  const leave = () => void navigate({ to: '/senders/$senderId', params: { senderId }, search: {} })
  return (
    <>
      <PageHead title={say('sender.edit.title', { name: senderName })} />
      <Refusal sender={sender} />
      <SenderForm
        companyId={companyId}
        kept={kept}
        isNew={false}
        submit={say(isBack ? 'sender.mend.submit' : 'sender.edit.submit')}
        isBusy={change.isPending}
        error={change.error}
        onSubmit={draft =>
          change.mutate(changeOf(sender, draft), {
            onSuccess: () => {
              kept.forget()
              leave()
            },
          })
        }
        onCancel={leave}
      />
    </>
  )
}

const draftOf = (sender: SenderPageData): SenderDraft => ({
  channelType: sender.channelType,
  senderName: sender.senderName,
  commonType: sender.commonType,
  brands: [sender.brand],
  description: sender.description,
  documents: sender.documents,
})

const changeOf = ({ version }: SenderPageData, draft: SenderDraft): NameChange => ({
  version,
  senderName: draft.senderName.trim(),
  commonType: draft.commonType,
  description: draft.description.trim(),
  documentIds: draft.documents.map(({ id }) => id),
})

function Sender({ companyId, sender, mayChange }: Props & { mayChange: boolean }) {
  const { say } = useWords()
  return (
    <>
      <SenderHead sender={sender} actions={mayChange && <SenderActions companyId={companyId} sender={sender} />} />
      <Refusal sender={sender} />
      {sender.suspended && (
        <Band kind="warn" title={say('sender.suspendedBand')}>
          <Said>{sender.suspendReason || say('sender.suspendedBand.text')}</Said>
        </Band>
      )}
      <div className={columns.columns}>
        <div>
          <Section title={say('review.history')}>
            <ReviewHistory items={sender.history} />
          </Section>
          <Section title={say('sender.documents')}>
            <Documents companyId={companyId} sender={sender} />
          </Section>
        </div>
        <div className={columns.aside}>
          <Facts sender={sender} />
          {!servesAll(sender, sender) && <Operators sender={sender} mayChange={mayChange} />}
        </div>
      </div>
    </>
  )
}

function SenderHead({ sender, actions }: { sender: SenderPageData; actions: ReactNode }) {
  const { say } = useWords()
  const { date } = useFormats()
  const { channel, operator } = useTrafficNames()
  const { channelType, brand, senderName } = sender
  usePageTitle(senderName)
  const isOfAll = servesAll(sender, sender)
  return (
    <div className={styles.head}>
      <div className={styles.names}>
        <div className={styles.title}>
          <h1>{senderName}</h1>
          <ReviewState status={sender.status} suspended={sender.suspended} isPill />
        </div>
        <p className="note">
          {[
            isOfAll
              ? say('sender.noteAll', { channel: channel(channelType) })
              : say('sender.note', { channel: channel(channelType), operator: operator(brand) }),
            say('sender.requested', { time: date(sender.createdAt) }),
          ].join(' · ')}
        </p>
      </div>
      <div className={styles.actions}>{actions}</div>
    </div>
  )
}

function Refusal({ sender }: { sender: SenderPageData }) {
  const { say } = useWords()
  return <RefusalBand of={sender} denied={say('sender.denied')} whatNext={say('sender.back.text')} />
}

function Documents({ companyId, sender: { documents } }: Props) {
  const { say } = useWords()
  if (documents.length === 0) return <p className="note">{say('sender.documents.none')}</p>
  return (
    <ul className={styles.lines}>
      {documents.map(document => (
        <li key={document.id}>
          <a className="link" href={addressOf(companyId, document)} target="_blank" rel="noreferrer">
            {document.filename}
          </a>
        </li>
      ))}
    </ul>
  )
}

function Facts({ sender }: { sender: SenderPageData }) {
  const { say } = useWords()
  const { date, money } = useFormats()
  return (
    <Section title={say('sender.facts')}>
      <Pairs>
        <Pair name={say('sender.type')}>{say(`senders.type.${sender.commonType}`)}</Pair>
        <Pair name={say('sender.from')}>{date(sender.dateFrom)}</Pair>
        <Pair name={say('sender.until')}>{sender.dateTo ? date(sender.dateTo) : say('sender.unlimited')}</Pair>
        {sender.fee !== null && <Pair name={say('sender.fee')}>{money(numberOf(sender.fee), sender.currency)}</Pair>}
        {sender.description !== '' && <Pair name={say('sender.description')}>{sender.description}</Pair>}
      </Pairs>
    </Section>
  )
}

/** The same name at the other operators, with a link to request a missing operator. */
function Operators({ sender, mayChange }: { sender: SenderPageData; mayChange: boolean }) {
  const { say } = useWords()
  const { operator } = useTrafficNames()
  return (
    <Section title={say('sender.operators')}>
      <ul className={styles.lines}>
        {brands.map(brand => {
          const best = bestOf(sender.registrations.filter(one => one.brand === brand && !one.isInternational))
          return (
            <li key={brand}>
              <span>{operator(brand)}</span>
              {best ? (
                <Link to="/senders/$senderId" params={{ senderId: best.senderId }} search={{}}>
                  <ReviewState status={best.status} suspended={best.suspended} />
                </Link>
              ) : mayChange ? (
                <Link
                  className="link"
                  aria-label={say('sender.requestFor', { operator: operator(brand) })}
                  to="/senders/new"
                  search={{ name: sender.senderName, brand, type: sender.commonType }}
                >
                  {say('sender.requestMore')}
                </Link>
              ) : (
                <span className="note">{say('senders.notRequested')}</span>
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
