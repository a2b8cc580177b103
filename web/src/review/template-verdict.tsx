import { useFormats } from '../format.ts'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { ReviewHistory } from '../parts/review/review-history.tsx'
import { ReviewState } from '../parts/review/review-state.tsx'
import pattern from '../templates/pattern.module.css'
import { PatternText } from '../templates/pattern-text.tsx'
import { PatternTrial } from '../templates/pattern-trial.tsx'
import { useWords } from '../words/words.ts'
import { DecisionBar } from './decide.tsx'
import styles from './review.module.css'
import type { TemplateData } from './review.ts'
import { CompanyLine } from './sender-verdict.tsx'
import type { ReviewAct } from './use-review-keys.ts'

type Props = { data: TemplateData; isBusy: boolean; onAct(what: ReviewAct): void }

/** The request of a template: its text, an example, and the company's other templates. */
export function TemplateVerdict({ data, isBusy, onAct }: Props) {
  const { say } = useWords()
  const { date, moment } = useFormats()
  const { channel } = useTrafficNames()
  return (
    <>
      <div className={styles.verdict}>
        <div className={styles.title}>
          <h1>{say('template.title', { id: String(data.templateId) })}</h1>
          <ReviewState status={data.status} isPill />
        </div>
        <p className="note">{`${channel(data.channelType)} · ${say('review.asked', { time: moment(data.createdAt) })}`}</p>
        <section>
          <p className={pattern.bubble}>
            <PatternText pattern={data.pattern} />
          </p>
        </section>
        <section>
          <dl className={styles.facts}>
            <dt>{say('review.company')}</dt>
            <dd>
              <CompanyLine company={data.company} />
            </dd>
            <dt>{say('templates.type')}</dt>
            <dd>{say(`templates.type.${data.templateType}`)}</dd>
            <dt>{say('templates.sender')}</dt>
            <dd>{data.senderName ?? say('templates.anyName')}</dd>
            <dt>{say('review.validFrom')}</dt>
            <dd>{date(data.dateFrom)}</dd>
            {data.comment && (
              <>
                <dt>{say('review.previous')}</dt>
                <dd className={styles.said}>{data.comment}</dd>
              </>
            )}
          </dl>
        </section>
        <OtherTemplates data={data} />
        {data.history.length > 2 && (
          <section>
            <h3>{say('review.history')}</h3>
            <ReviewHistory items={data.history} />
          </section>
        )}
        <DecisionBar status={data.status} isWaiting={data.isWaiting} isBusy={isBusy} onAct={onAct} />
      </div>
      <div className={`${styles.doc} ${styles.trial}`}>
        <PatternTrial pattern={data.pattern} />
      </div>
    </>
  )
}

function OtherTemplates({ data: { others, company } }: { data: TemplateData }) {
  const { say } = useWords()
  if (others.length === 0) return null
  return (
    <section>
      <h3>{say('review.others.templates', { company: company.name })}</h3>
      <ul className={styles.lines}>
        {others.map(other => (
          <li key={other.templateId}>
            <span className={styles.pattern}>
              <PatternText pattern={other.pattern} />
            </span>
            <span className={styles.end}>
              <ReviewState status={other.status} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
