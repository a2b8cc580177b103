import { useFormats } from '../format.ts'
import { Figure, Figures as Row } from '../parts/content/figures.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { useWords } from '../words/words.ts'
import { useClock } from './clock.ts'
import { type Overview, useShowsSeveral } from './overview.ts'

/** The four figures. The line below each compares or explains it. */
export function Figures({ overview }: { overview: Overview }) {
  const { today, funds, oldest, at, zone } = overview
  const { say } = useWords()
  return (
    <Row>
      <SentFigure today={today} zone={zone} />
      <DeliveredFigure today={today} zone={zone} />
      {funds && <SpentFigure funds={funds} at={at} zone={zone} />}
      {oldest ? (
        <OldestFigure oldest={oldest} at={at} zone={zone} />
      ) : (
        <Figure label={say('overview.oldest')} value={say('overview.oldest.none')}>
          {say('overview.oldest.noneNote')}
        </Figure>
      )}
    </Row>
  )
}

type OfToday = { today: Overview['today']; zone: string }

function SentFigure({ today: { sent, sentYesterday }, zone }: OfToday) {
  const { say } = useWords()
  const { number } = useFormats()
  return (
    <Figure label={say('overview.sent')} value={number(sent)}>
      <Comparison now={sent} before={sentYesterday} zone={zone} />
    </Figure>
  )
}

function Comparison({ now, before, zone }: { now: number; before: number; zone: string }) {
  const { say } = useWords()
  const { roughShare } = useClock(zone)
  if (before === 0) return say('overview.sent.first')
  const change = Math.round((now / before - 1) * 100) / 100
  if (change === 0) return say('overview.sent.same')
  return say(change > 0 ? 'overview.sent.more' : 'overview.sent.less', { share: roughShare(Math.abs(change)) })
}

function DeliveredFigure({ today: { delivered, failed, onTheWay }, zone }: OfToday) {
  const { say } = useWords()
  const { number } = useFormats()
  const { share } = useClock(zone)
  const results = delivered + failed
  return (
    <Figure label={say('overview.delivered')} value={results === 0 ? '–' : share(delivered / results)}>
      {results + onTheWay === 0
        ? say('overview.delivered.none')
        : say('overview.delivered.note', { way: number(onTheWay), failed: number(failed) })}
    </Figure>
  )
}

type OfMoney = { funds: NonNullable<Overview['funds']>; at: string; zone: string }

function SpentFigure({ funds: [first, ...others], at, zone }: OfMoney) {
  const { say } = useWords()
  const { money } = useFormats()
  const { month } = useClock(zone)
  const showsSeveral = useShowsSeveral()
  const { currency, spent, reserved, budget } = first ?? { currency: 'RUB', spent: 0, reserved: 0, budget: null }
  const [amount, sign] = money(spent, currency).split('\u00a0').reduce(joinAmount, ['', ''])
  const held = money(reserved, currency)
  return (
    <Figure
      label={say('overview.spent', { month: month(at) })}
      value={
        <>
          {amount} <small>{sign}</small>
        </>
      }
    >
      {budget !== null
        ? say('overview.spent.ofBudget', { budget: money(budget, currency), held })
        : say(showsSeveral ? 'overview.spent.held' : 'overview.spent.noBudget', { held })}
      {others.map(other => (
        <span key={other.currency}> {say('overview.spent.also', { amount: money(other.spent, other.currency) })}</span>
      ))}
    </Figure>
  )
}

/** The currency sign follows the last no-break space. Russian also groups digits with such spaces. */
const joinAmount = ([amount = '', sign = '']: string[], piece: string): string[] =>
  sign === '' ? [amount, piece] : [amount ? `${amount}\u00a0${sign}` : sign, piece]

type OfWaiting = { oldest: NonNullable<Overview['oldest']>; at: string; zone: string }

function OldestFigure({ oldest, at, zone }: OfWaiting) {
  const { say } = useWords()
  const { duration } = useClock(zone)
  const waitedMs = Date.parse(at) - Date.parse(oldest.since)
  return (
    <Figure
      label={say('overview.oldest')}
      value={waitedMs < 60_000 ? <small>{say('overview.oldest.now')}</small> : duration(waitedMs)}
    >
      <WaitReason oldest={oldest} zone={zone} />
    </Figure>
  )
}

function WaitReason({ oldest: { channelType, reason }, zone }: Omit<OfWaiting, 'at'>) {
  const { say } = useWords()
  const { time } = useClock(zone)
  const channel = useTrafficNames().channel(channelType)
  switch (reason?.kind) {
    case 'engine':
      return say('overview.wait.engine', { channel })
    case 'company':
      return say('overview.wait.company', { channel })
    case 'sender':
      return say('overview.wait.sender', { channel, name: reason.senderName })
    case 'window':
      return say('overview.wait.window', { channel, time: time(reason.until) })
    case 'gateways':
      return say('overview.wait.gateways', { channel })
    case 'limit':
      return say('overview.wait.limit', { channel, count: reason.partsPerSecond })
    default:
      return say('overview.wait.turn', { channel })
  }
}
