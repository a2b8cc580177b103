import type { ReactNode } from 'react'
import { useFormats } from '../format.ts'
import { Icon, type IconName } from '../parts/content/icon.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { PageLink } from '../parts/pages/page-link.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { useClock } from './clock.ts'
import styles from './overview.module.css'
import type { Attention } from './overview.ts'
import { useShowsSeveral } from './overview.ts'

/** Problems that need a person. Each line leads to the page that solves it. */
export function AttentionList({ lines, zone }: { lines: Attention[]; zone: string }) {
  const { say } = useWords()
  return (
    <section>
      <div className={styles.head}>
        <h2>{say('overview.attention')}</h2>
        {lines.length > 0 && <span className="note">{lines.length}</span>}
      </div>
      <ul className={styles.attention}>
        {lines.map((line, place) => (
          <AttentionItem key={place} line={line} zone={zone} />
        ))}
        {lines.length === 0 && (
          <Item icon="ok" kind="ok" title={say('overview.attention.none')}>
            <p>{say('overview.attention.noneNote')}</p>
          </Item>
        )}
      </ul>
    </section>
  )
}

function AttentionItem({ line, zone }: { line: Attention; zone: string }) {
  switch (line.kind) {
    case 'engine':
      return <EngineItem />
    case 'gateway':
    case 'channel':
      return <DownItem line={line} zone={zone} />
    case 'failures':
      return <FailuresItem line={line} zone={zone} />
    case 'budget':
      return <BudgetItem line={line} zone={zone} />
    case 'balance':
      return <BalanceItem line={line} zone={zone} />
    case 'receiver':
      return <ReceiverItem line={line} />
    case 'refused':
      return <RefusedItem line={line} />
    case 'review':
      return <ReviewItem line={line} />
  }
}

type Line<Kind extends Attention['kind']> = { line: Extract<Attention, { kind: Kind }> }

function EngineItem() {
  const { say } = useWords()
  const seesHealth = useMe().rights.includes('health.see')
  return (
    <Item icon="fail" kind="fail" title={say('overview.engine.title')}>
      <p>{say('overview.engine.text')}</p>
      {seesHealth && <PageLink to="/health">{say('overview.engine.link')}</PageLink>}
    </Item>
  )
}

function DownItem({ line, zone }: Line<'gateway' | 'channel'> & { zone: string }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const { time } = useClock(zone)
  const name = line.kind === 'gateway' ? line.name : channel(line.channelType)
  const since = line.kind === 'gateway' ? line.since : null
  const title = since ? say('overview.down.since', { name, time: time(since) }) : say('overview.down.title', { name })
  return (
    <Item icon="fail" kind="fail" title={title}>
      <p>
        {line.waiting > 0 ? say('overview.down.waiting', { count: line.waiting }) : say('overview.down.none')}
        {line.kind === 'gateway' && line.error && ` ${line.error}`}
      </p>
      {line.kind === 'gateway' ? (
        <PageLink to="/gateways/$gatewayId" params={{ gatewayId: String(line.gatewayId) }}>
          {say('overview.down.gateway')}
        </PageLink>
      ) : (
        <PageLink to="/messages" search={{ channel: line.channelType, status: 'sending' }}>
          {say('overview.down.messages')}
        </PageLink>
      )}
    </Item>
  )
}

function FailuresItem({ line: { company, dispatch }, zone }: Line<'failures'> & { zone: string }) {
  const { say } = useWords()
  const { reason } = useTrafficNames()
  const { share } = useClock(zone)
  const { name, failedShare, usualShare, errorCode, dispatchId } = dispatch
  const failed = share(failedShare)
  return (
    <Item icon="warn" kind="warn" title={say('overview.failures.title', { name })} company={company}>
      <p>
        {usualShare === null
          ? say('overview.failures.share', { share: failed })
          : say('overview.failures.usual', { share: failed, usual: share(usualShare) })}
        {errorCode !== null && ` ${say('overview.failures.mostly', { reason: withSmallInitial(reason(errorCode)) })}`}
      </p>
      <PageLink to="/dispatches/$dispatchId" params={{ dispatchId: String(dispatchId) }}>
        {say('overview.failures.link')}
      </PageLink>
    </Item>
  )
}

/** For a text inside a sentence. Names such as Telegram keep their capital letter. */
const withSmallInitial = (text: string) =>
  /^(Telegram|SMS)/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1)

function BudgetItem({ line: { company, usedShare, runsOutOn }, zone }: Line<'budget'> & { zone: string }) {
  const { say } = useWords()
  const ofCompany = useOfCompany()
  const { roughShare, date } = useClock(zone)
  const title =
    usedShare >= 1
      ? say('overview.budget.used')
      : runsOutOn
        ? say('overview.budget.until', { date: date(runsOutOn) })
        : say('overview.budget.nearly')
  return (
    <Item icon="wallet" kind={usedShare >= 1 ? 'fail' : 'warn'} title={title} company={company}>
      <p>{say('overview.budget.text', { share: roughShare(usedShare) })}</p>
      <PageLink to="/money" search={ofCompany(company)}>
        {say('overview.budget.link')}
      </PageLink>
    </Item>
  )
}

function BalanceItem({ line: { company, left, currency, runsOutOn }, zone }: Line<'balance'> & { zone: string }) {
  const { say } = useWords()
  const ofCompany = useOfCompany()
  const { money } = useFormats()
  const { date } = useClock(zone)
  const title = runsOutOn ? say('overview.balance.until', { date: date(runsOutOn) }) : say('overview.balance.used')
  return (
    <Item icon="wallet" kind={runsOutOn ? 'warn' : 'fail'} title={title} company={company}>
      <p>{say('overview.balance.text', { amount: money(left, currency) })}</p>
      <PageLink to="/money" search={ofCompany(company)}>
        {say('overview.balance.link')}
      </PageLink>
    </Item>
  )
}

function ReceiverItem({ line: { company, receiver, failures, waitingEvents } }: Line<'receiver'>) {
  const { say } = useWords()
  const ofCompany = useOfCompany()
  const host = receiver.replace(/^https?:\/\//, '')
  return (
    <Item icon="pause" kind="warn" title={say('overview.receiver.title', { receiver: host })} company={company}>
      <p>
        {say('overview.receiver.failures', { count: failures })}{' '}
        {say('overview.receiver.events', { count: waitingEvents })}
      </p>
      <PageLink to="/developers/callbacks" search={ofCompany(company)}>
        {say('overview.receiver.link')}
      </PageLink>
    </Item>
  )
}

function RefusedItem({ line: { company, senderId, senderName: name, status, comment } }: Line<'refused'>) {
  const { say } = useWords()
  const ofCompany = useOfCompany()
  const title = say(status === 'DENIED' ? 'overview.refused.denied' : 'overview.refused.rejected', { name })
  return (
    <Item icon="slash" kind="warn" title={title} company={company}>
      <p>{comment || say('overview.refused.text')}</p>
      <PageLink to="/senders/$senderId" params={{ senderId: String(senderId) }} search={ofCompany(company)}>
        {say('overview.refused.link')}
      </PageLink>
    </Item>
  )
}

function ReviewItem({ line: { senders, templates } }: Line<'review'>) {
  const { say } = useWords()
  const titles = [
    ...(senders > 0 ? [say('overview.review.senders', { count: senders })] : []),
    ...(templates > 0 ? [say('overview.review.templates', { count: templates })] : []),
  ]
  return (
    <Item icon="shield" kind="warn" title={titles.join(', ')}>
      <p>{say('overview.review.text')}</p>
      <PageLink to="/review">{say('overview.review.link')}</PageLink>
    </Item>
  )
}

/** If the page shows several companies, the link of a line chooses the company of the line. */
function useOfCompany() {
  const showsSeveral = useShowsSeveral()
  return ({ companyId }: { companyId: number }) => (showsSeveral ? { company: companyId } : {})
}

type ItemProps = {
  icon: IconName
  kind: 'ok' | 'warn' | 'fail'
  title: string
  company?: { companyId: number; name: string }
  children: ReactNode
}

/** If the page shows several companies, a line names its company. A click on the name shows only that company. */
function Item({ icon, kind, title, company, children }: ItemProps) {
  const showsSeveral = useShowsSeveral()
  return (
    <li>
      <span className={styles[`${kind}Text`]}>
        <Icon name={icon} />
      </span>
      <div>
        <b>{title}</b>
        {company && showsSeveral && (
          <PageLink to="/overview" search={{ company: company.companyId }} className={styles.company}>
            {company.name}
          </PageLink>
        )}
        {children}
      </div>
    </li>
  )
}
