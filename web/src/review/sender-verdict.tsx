import { Link } from '@tanstack/react-router'
import { isPaidType } from '../../../src/domain/senders/sender.ts'
import { useFormats } from '../format.ts'
import { numberOf } from '../new-dispatch/offer.ts'
import { Icon } from '../parts/content/icon.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { ReviewHistory } from '../parts/review/review-history.tsx'
import { ReviewState } from '../parts/review/review-state.tsx'
import { useWords } from '../words/words.ts'
import { DecisionBar } from './decide.tsx'
import { DocumentView } from './document-view.tsx'
import styles from './review.module.css'
import type { SenderData } from './review.ts'
import type { ReviewAct } from './use-review-keys.ts'

type Props = { data: SenderData; isBusy: boolean; onAct(what: ReviewAct): void }

/** The request of a sender name: automatic checks, the statements of the company, its other names and similar names. */
export function SenderVerdict({ data, isBusy, onAct }: Props) {
  const { say } = useWords()
  const { moment } = useFormats()
  const { channel, operator } = useTrafficNames()
  const { channelType, brand, company } = data
  const where =
    channelType === 'SMS'
      ? say('sender.note', { channel: channel(channelType), operator: operator(brand) })
      : say('sender.noteAll', { channel: channel(channelType) })
  return (
    <>
      <div className={styles.verdict}>
        <div className={styles.title}>
          <h1>{data.senderName}</h1>
          <ReviewState status={data.status} suspended={data.suspended} isPill />
        </div>
        <p className="note">{`${where} · ${say('review.asked', { time: moment(data.createdAt) })}`}</p>
        <Checks data={data} />
        <SenderFacts data={data} />
        <OtherNames data={data} />
        <SimilarNames data={data} />
        {data.history.length > 2 && (
          <section>
            <h3>{say('review.history')}</h3>
            <ReviewHistory items={data.history} />
          </section>
        )}
        <DecisionBar status={data.status} isWaiting={data.isWaiting} isBusy={isBusy} onAct={onAct} />
      </div>
      <DocumentView companyId={company.companyId} documents={data.documents} />
    </>
  )
}

/** The facts that a moderator checks first. */
function Checks({ data: { senderName, documents, similar, company } }: { data: SenderData }) {
  const { say } = useWords()
  const isSame = similar.some(other => sameName(other.senderName, senderName) && other.status === 'APPROVED')
  const isDenied = similar.some(({ status }) => status === 'DENIED')
  return (
    <section>
      <ul className={styles.lines}>
        <Check isGood>{say('review.check.length', { count: [...senderName].length })}</Check>
        {documents.length > 0 ? (
          <Check isGood>{say('review.check.documents', { count: documents.length })}</Check>
        ) : (
          <Check>{say('review.check.noDocument')}</Check>
        )}
        {isSame && <Check>{say('review.check.same')}</Check>}
        {isDenied && <Check>{say('review.check.denied')}</Check>}
        {!isSame && !isDenied && similar.length > 0 && <Check>{say('review.check.similar')}</Check>}
        {similar.length === 0 && <Check isGood>{say('review.check.alone')}</Check>}
        {company.isDisabled && <Check>{say('review.companyDisabled')}</Check>}
      </ul>
    </section>
  )
}

const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

const Check = ({ isGood = false, children }: { isGood?: boolean; children: string }) => (
  <li>
    <span className={isGood ? styles.good : styles.warn}>
      <Icon name={isGood ? 'ok' : 'warn'} />
    </span>
    {children}
  </li>
)

function SenderFacts({ data }: { data: SenderData }) {
  const { say } = useWords()
  const { date, money } = useFormats()
  const type = say(`senders.type.${data.commonType}`)
  const fee = isPaidType(data.commonType) && data.fee !== null ? money(numberOf(data.fee), data.currency) : undefined
  return (
    <section>
      <dl className={styles.facts}>
        <dt>{say('review.company')}</dt>
        <dd>
          <CompanyLine company={data.company} />
        </dd>
        <dt>{say('review.usedFor')}</dt>
        <dd>{fee === undefined ? type : say('review.perMonth', { type, fee })}</dd>
        <dt>{say('review.validFrom')}</dt>
        <dd>{date(data.dateFrom)}</dd>
        {data.description !== '' && (
          <>
            <dt>{say('review.description')}</dt>
            <dd className={styles.said}>{data.description}</dd>
          </>
        )}
        {data.comment && (
          <>
            <dt>{say('review.previous')}</dt>
            <dd className={styles.said}>{data.comment}</dd>
          </>
        )}
      </dl>
    </section>
  )
}

/** A link to the sender names of the company. */
export function CompanyLine({ company }: { company: SenderData['company'] }) {
  const { say } = useWords()
  const { companyId, name, counteragentName, counteragentInn } = company
  return (
    <>
      <Link className="link" to="/senders" search={{ company: companyId }}>
        {name}
      </Link>
      <span className={styles.below}>{say('review.taxNumber', { name: counteragentName, inn: counteragentInn })}</span>
    </>
  )
}

function OtherNames({ data: { others, company } }: { data: SenderData }) {
  const { say } = useWords()
  const { channel, operator } = useTrafficNames()
  if (others.length === 0) return null
  return (
    <section>
      <h3>{say('review.others', { company: company.name })}</h3>
      <ul className={styles.lines}>
        {others.map(({ channelType, senderName, registrations }) => (
          <li key={`${channelType} ${senderName}`}>
            <span className={styles.name}>{senderName}</span>
            <span className={styles.where}>
              {channelType === 'SMS'
                ? registrations.map(({ brand }) => (brand ? operator(brand) : say('senders.abroad'))).join(', ')
                : channel(channelType)}
            </span>
            <span className={styles.end}>
              <ReviewState {...registrations.at(-1)!} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function SimilarNames({ data: { similar } }: { data: SenderData }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  if (similar.length === 0) return null
  return (
    <section>
      <h3>{say('review.similar')}</h3>
      <ul className={styles.lines}>
        {similar.map(({ senderId, senderName, channelType, companyName, status, suspended, managerComment }) => (
          <li key={senderId}>
            <span className={styles.name}>{senderName}</span>
            <span className={styles.where}>{`${channel(channelType)} · ${managerComment || companyName}`}</span>
            <span className={styles.end}>
              <ReviewState status={status} suspended={suspended} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
