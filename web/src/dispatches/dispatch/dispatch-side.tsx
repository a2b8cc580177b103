import { Link } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import { Pair, Pairs } from '../../parts/content/pairs.tsx'
import { Section } from '../../parts/content/section.tsx'
import { describeHours, termNames } from '../../parts/names/week-hours.ts'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { useClicks } from '../clicks.ts'
import type { Breakdown, Whole } from '../dispatches.ts'
import styles from './dispatch-page.module.css'

export function DispatchMoney({ money }: { money: NonNullable<Breakdown['money']> }) {
  const { say } = useWords()
  const formats = useFormats()
  const amount = (value: number) => formats.money(value, money.currency)
  return (
    <Section title={say('dispatch.money')}>
      <Pairs>
        <Pair name={say('dispatch.money.charged')}>{amount(money.charged)}</Pair>
        <Pair name={say('dispatch.money.held')}>{amount(money.held)}</Pair>
        <Pair name={say('dispatch.money.released')}>{amount(money.released)}</Pair>
        <Pair name={say('dispatch.money.estimate')}>{amount(money.estimate)}</Pair>
      </Pairs>
    </Section>
  )
}

/** The text of the dispatch and its settings. */
export function DispatchSide({ dispatch }: { dispatch: Whole }) {
  const words = useWords()
  const { say } = words
  const { moment } = useFormats()
  const clicks = useClicks()
  const ofCompany = useMe().kind === 'COMPANY' ? undefined : dispatch.companyId
  const { again, againOf, senderNames, startAt, completedAt, callbackUrl, sendingHours, limit } = dispatch
  return (
    <>
      <Section title={say('dispatch.text')}>
        <p className={styles.bubble}>
          <WithPlaces text={dispatch.text} />
        </p>
        {dispatch.clicks && (
          <p className={styles.clicks}>
            <Link to="/links" search={{ company: ofCompany, dispatch: dispatch.dispatchId }} className="link">
              {clicks(dispatch.clicks)}
            </Link>
          </p>
        )}
      </Section>
      <Section title={say('dispatch.details')}>
        <Pairs>
          <Pair name={say('dispatch.details.company')}>{dispatch.companyName}</Pair>
          {senderNames.length > 0 && <Pair name={say('dispatch.details.sender')}>{senderNames.join(', ')}</Pair>}
          <Pair name={say('dispatch.details.traffic')}>{say(`dispatch.traffic.${dispatch.trafficType}`)}</Pair>
          {sendingHours && (
            <Pair name={say('dispatch.details.hours')}>
              {describeHours(words, sendingHours)}
              <span className={`note small ${styles.clock}`}>
                {say(sendingHours.isLocal ? 'new.when.theirs' : 'new.when.moscow')}
              </span>
            </Pair>
          )}
          {limit && (
            <Pair name={say('dispatch.details.limit')}>
              {say('dispatch.details.parts', { count: limit.rate, term: say(termNames[limit.term as Term]) })}
            </Pair>
          )}
          {againOf && <Pair name={say('dispatch.details.againOf')}>{linkTo(againOf)}</Pair>}
          {again && <Pair name={say('dispatch.details.again')}>{linkTo(again)}</Pair>}
          <Pair name={say('dispatch.details.created')}>{moment(dispatch.createdAt)}</Pair>
          {startAt && <Pair name={say('dispatch.details.planned')}>{moment(startAt)}</Pair>}
          {completedAt && <Pair name={say('dispatch.details.finished')}>{moment(completedAt)}</Pair>}
          {callbackUrl && <Pair name={say('dispatch.details.callbacks')}>{hostOf(callbackUrl)}</Pair>}
        </Pairs>
      </Section>
    </>
  )
}

const linkTo = ({ dispatchId, name }: { dispatchId: number; name: string }) => (
  <Link to="/dispatches/$dispatchId" params={{ dispatchId }} search={{}} className="link">
    {name}
  </Link>
)

type Term = keyof typeof termNames

/** Highlights placeholders. */
const WithPlaces = ({ text }: { text: string }) =>
  text.split(/(\{[^{}]*\})/).map((piece, i) => (i % 2 === 1 ? <mark key={i}>{piece}</mark> : piece))

/** Only the host is shown, because the rest of the address may contain a secret. */
const hostOf = (url: string) => URL.parse(url)?.host ?? url
