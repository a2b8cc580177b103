import type { ReactNode } from 'react'
import { useFormats } from '../format.ts'
import table from '../parts/lists/table.module.css'
import { useWords } from '../words/words.ts'
import { useAmount, useSign } from './amounts.ts'
import type { Draft } from './draft.ts'
import styles from './new-dispatch.module.css'
import { channelsOf, checkedReport, mostOf, numberOf, type Offer, reportOf, samplesOf, statesOf } from './offer.ts'
import { partsIn, rendered } from './text/message-text.ts'

type Props = { draft: Draft; offer: Offer }

function Aside({ draft, title, note, children }: { draft: Draft; title: string; note?: string; children: ReactNode }) {
  const words = useWords()
  const { say } = words
  const { channel, name } = channelsOf(draft, words)
  const from = name ? say('new.summary.from', { channel, name }) : channel
  return (
    <aside className={styles.aside} aria-label={title}>
      <div className={styles.sectionHead}>
        <h2>{title}</h2>
        <span className="note">{note ?? from}</span>
      </div>
      {children}
    </aside>
  )
}

/** Beside step 1: the message on a phone and the price of one message. */
export function TextSummary({ draft, offer }: Props) {
  const { say } = useWords()
  const text = rendered(draft.text, samplesOf(draft))
  return (
    <Aside draft={draft} title={say('new.summary')}>
      <div className={styles.phone}>
        <div className={styles.phoneWho}>
          <span className={styles.face}>{(draft.senderName || '?').slice(0, 1).toUpperCase()}</span>
          <b>{draft.senderName || '…'}</b>
        </div>
        <p className={styles.phoneDay}>{say('new.phone.message')}</p>
        <p className={styles.bubble}>{text || '…'}</p>
      </div>
      <p className={`note small ${styles.below}`}>{say('new.summary.samples')}</p>
      {!draft.cascade && <EachPrice draft={draft} offer={offer} text={text} />}
    </Aside>
  )
}

function EachPrice({ draft, offer, text }: Props & { text: string }) {
  const { say } = useWords()
  const { money } = useFormats()
  const amount = useAmount()
  const { currency } = offer.company
  const sign = useSign(currency)
  const parts = Math.max(1, partsIn(draft.channelType, text))
  const priced = statesOf(offer, draft.channelType, draft.senderName).flatMap(({ brand, partPrice }) =>
    partPrice === null ? [] : [{ brand, part: numberOf(partPrice) }],
  )
  const fixed = offer.channelPrices[draft.channelType]
  const each = priced.length > 0 ? priced.map(({ part }) => part * parts) : fixed ? [numberOf(fixed)] : []
  const free = offer.budget?.free
  return (
    <>
      {priced.length > 0 && (
        <table className={`${table.table} ${styles.prices}`}>
          <thead>
            <tr>
              <th>{say('new.sender.operator')}</th>
              <th className={table.number}>{say('new.sender.part', { sign })}</th>
              <th className={table.number}>{say('new.summary.parts')}</th>
              <th className={table.number}>{say('new.summary.each', { sign })}</th>
            </tr>
          </thead>
          <tbody>
            {priced.map(({ brand, part }) => (
              <tr key={brand ?? 'OTHER'}>
                <td>{say(`operator.${brand ?? 'OTHER'}`)}</td>
                <td className={table.number}>{amount(part)}</td>
                <td className={table.number}>{parts}</td>
                <td className={table.number}>{amount(part * parts)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {free && each.length > 0 && (
        <dl className={styles.pairs}>
          <dt>{say('new.summary.free')}</dt>
          <dd>{money(numberOf(free), currency)}</dd>
          <dt>{say('new.summary.enough')}</dt>
          <dd className="strong">
            {say('new.summary.such', { count: Math.max(0, Math.floor(numberOf(free) / Math.max(...each))) })}
          </dd>
        </dl>
      )}
    </>
  )
}

/** Beside the other steps: the text and the price of the dispatch. */
export function PriceSummary({ draft, offer, title }: Props & { title?: string }) {
  const { say } = useWords()
  const report = reportOf(draft)
  return (
    <Aside draft={draft} title={title ?? say('new.summary')}>
      <p className={styles.bubble}>{draft.text}</p>
      {report ? (
        <div className={styles.below}>
          <BrandPrices draft={draft} offer={offer} />
          <TotalPairs draft={draft} offer={offer} />
        </div>
      ) : (
        <p className={`note small ${styles.below}`}>{say('new.summary.notChecked')}</p>
      )}
    </Aside>
  )
}

/** The exact price of the dispatch by operator, as the server computed it. */
export function BrandPrices({ draft, offer }: Props) {
  const { say } = useWords()
  const { number } = useFormats()
  const amount = useAmount()
  const sign = useSign(offer.company.currency)
  const report = checkedReport(draft)
  return (
    <table className={`${table.table} ${styles.prices}`}>
      <thead>
        <tr>
          <th>{say('new.sender.operator')}</th>
          <th className={table.number}>{say('new.check.messages')}</th>
          <th className={table.number}>{say('new.check.parts')}</th>
          <th className={table.number}>{say(draft.cascade ? 'new.cascade.first' : 'new.check.price', { sign })}</th>
        </tr>
      </thead>
      <tbody>
        {report.byBrand.map(({ brand, messages, parts, price }) => (
          <tr key={brand ?? 'OTHER'}>
            <td>{say(`operator.${brand ?? 'OTHER'}`)}</td>
            <td className={table.number}>{number(messages)}</td>
            <td className={table.number}>{number(parts)}</td>
            <td className={table.number}>{amount(numberOf(price))}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>{say('new.check.together')}</td>
          <td className={table.number}>{number(report.willBeSent)}</td>
          <td className={table.number}>{number(report.parts)}</td>
          <td className={table.number}>{amount(numberOf(report.price))}</td>
        </tr>
      </tfoot>
    </table>
  )
}

function TotalPairs({ draft, offer }: Props) {
  const { say } = useWords()
  const { money } = useFormats()
  const report = checkedReport(draft)
  const { price } = report
  const { currency } = offer.company
  const free = offer.budget?.free
  return (
    <dl className={styles.pairs}>
      {free && (
        <>
          <dt>{say('new.summary.afterIt')}</dt>
          <dd>{money(numberOf(free) - numberOf(price), currency)}</dd>
        </>
      )}
      {draft.cascade && (
        <>
          <dt>{say('new.cascade.held')}</dt>
          <dd>{money(numberOf(price), currency)}</dd>
        </>
      )}
      <dt className={styles.total}>{say(draft.cascade ? 'new.cascade.atMost' : 'new.summary.atMost')}</dt>
      <dd className={styles.total}>{money(mostOf(report), currency)}</dd>
    </dl>
  )
}

/** At 390 pixels, beside the button. */
export function PriceInFoot({ draft, offer }: Props) {
  const { say } = useWords()
  const { money } = useFormats()
  const report = reportOf(draft)
  if (!report) return null
  return (
    <>
      <b>{money(mostOf(report), offer.company.currency)}</b>
      <span>{say('new.summary.recipients', { count: report.willBeSent })}</span>
    </>
  )
}
