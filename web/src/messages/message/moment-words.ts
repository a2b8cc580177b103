import { useFormats } from '../../format.ts'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords, type Words } from '../../words/words.ts'
import type { Life, Moment } from '../messages.ts'

export type MomentWords = { title: string; amount?: string; note?: string }

type Of<Kind extends Moment['kind']> = Extract<Moment, { kind: Kind }>

type Context = {
  life: Life
  say: Words['say']
  money(amount: number): string
  time(moment: string): string
  channel: ReturnType<typeof useTrafficNames>['channel']
}

/** The text of one event of a message. */
export function useMomentWords(life: Life): (moment: Moment) => MomentWords {
  const { say } = useWords()
  const formats = useFormats()
  const { channel } = useTrafficNames()
  const money = (amount: number) => formats.money(amount, life.currency)
  const context: Context = { life, say, money, time: formats.moment, channel }
  return moment => wordsOf(context, moment)
}

function wordsOf(context: Context, moment: Moment): MomentWords {
  const { say } = context
  switch (moment.kind) {
    case 'accepted':
      return { title: say('message.accepted'), note: originOf(context, moment) }
    case 'next step':
      return { title: say('message.nextStep'), note: say('message.nextStep.note') }
    case 'priced':
      return priced(context, moment)
    case 'held':
      return held(context, moment)
    case 'waiting':
      return waiting(context, moment)
    case 'sent':
      return sent(context, moment)
    case 'delivered':
      return delivered(context, moment)
    case 'failed':
      return failed(context, moment)
    case 'read':
      return { title: say('message.read'), note: say('message.read.note') }
    case 'late receipt':
      return lateReceipt(context, moment)
    case 'clicked':
      return clicked(context, moment)
    case 'callback':
      return callbackWords(context, moment)
  }
}

function originOf({ life, say }: Context, { position, method, key, person }: Of<'accepted'>): string {
  if (life.dispatchId !== null)
    return say('message.accepted.dispatch', { name: life.dispatchName ?? '', place: (position ?? 0) + 1 })
  if (person) return say('message.accepted.person', { login: person.login })
  const way = method === null || method === 'DISPATCH' ? 'API' : method
  if (!key) return say(`message.accepted.${way}`)
  const name = key.name || say('message.accepted.unnamedKey', { id: String(key.keyId) })
  return say(way === 'VERIFIER_API' ? 'message.accepted.verifierKey' : 'message.accepted.key', { name })
}

function priced({ say, money }: Context, { price, parts, model }: Of<'priced'>): MomentWords {
  const each = say('message.priced.parts', { count: parts, price: money(parts > 0 ? price / parts : price) })
  return {
    title: say('message.priced'),
    amount: money(price),
    note: `${each}, ${say(`message.priced.${model ?? 'none'}`)}`,
  }
}

const held = ({ say, money }: Context, { amount, isByStart }: Of<'held'>): MomentWords => ({
  title: say('message.held'),
  amount: money(amount),
  note: say(isByStart ? 'message.held.start' : 'message.held.accepted'),
})

function waiting(context: Context, { reasons, notBefore }: Of<'waiting'>): MomentWords {
  const { life, say, time } = context
  const isStopped = life.dispatchStatus !== null && life.dispatchStatus !== 'STARTED'
  const notes = [
    ...(notBefore ? [say('message.waiting.until', { time: time(notBefore) })] : []),
    ...(isStopped ? [say('message.waiting.notStarted')] : []),
    ...reasons.map(reason => reasonWords(context, reason)).filter(note => note !== ''),
  ]
  return { title: say('message.waiting'), note: notes.join(' ') || say('message.waiting.turn') }
}

function reasonWords({ say, time, channel }: Context, reason: Of<'waiting'>['reasons'][number]): string {
  switch (reason.kind) {
    case 'engine':
      return say('message.waiting.engine')
    case 'company':
      return say('message.waiting.company')
    case 'sender':
      return say('message.waiting.sender', { name: reason.senderName })
    case 'window':
      return say('message.waiting.window', { time: time(reason.until) })
    case 'gateways':
      return say('message.waiting.gateways', {
        channel: channel(reason.channelType),
        names: reason.gateways.map(({ name }) => name).join(', '),
      })
    case 'limit':
      return say('message.waiting.limit', { count: reason.partsPerSecond })
    case 'receipts':
      return ''
  }
}

function sent({ say }: Context, { parts }: Of<'sent'>): MomentWords {
  if (parts === 'gone') return { title: say('message.sent'), note: say('message.sent.gone') }
  if (parts === 'unread') return { title: say('message.sent'), note: say('message.sent.unread') }
  const gateways = [...new Set(parts.map(({ gateway }) => gateway))].join(', ')
  if (gateways === '') return { title: say('message.sent'), note: say('message.sent.none') }
  return { title: say('message.sent.through', { gateway: gateways }) }
}

function delivered({ life, say, money }: Context, { charged }: Of<'delivered'>): MomentWords {
  const seesPrices = life.steps[0]?.money !== null
  return {
    title: say('message.delivered'),
    ...(seesPrices ? { amount: say('message.amount.charged', { amount: money(charged) }) } : {}),
    note: say('message.delivered.note'),
  }
}

const failed = ({ say, money }: Context, { wasSent, isRejected, released }: Of<'failed'>): MomentWords => ({
  title: say(isRejected ? 'message.failed.rejected' : wasSent ? 'message.failed.sent' : 'message.failed.unsent'),
  ...(released > 0 ? { amount: say('message.amount.released', { amount: money(released) }) } : {}),
})

const lateReceipt = ({ say }: Context, { status }: Of<'late receipt'>): MomentWords => ({
  title: say(status === 'DELIVERED' ? 'message.late.delivered' : 'message.late.failed'),
  note: say('message.late.note'),
})

const clicked = ({ say }: Context, { url, place, clicks }: Of<'clicked'>): MomentWords => ({
  title: say('message.clicked'),
  note: say('message.clicked.note', { url, place, count: clicks }),
})

function callbackWords({ say, time }: Context, { callback }: Of<'callback'>): MomentWords {
  const { url, status, events, eventCount, expiresAt, attempts } = callback
  const host = URL.parse(url)?.host ?? url
  const names = events.map(({ name }) => name).join(', ')
  const isReceived = events.every(event => event.isReceived)
  const outcome = isReceived ? 'received' : status === 'EXPIRED' ? 'expired' : 'waiting'
  const notes = [
    eventCount > 1
      ? say('message.callback.batch', { events: names, count: eventCount })
      : say('message.callback.alone', { events: names }),
    ...(outcome === 'waiting' ? [say('message.callback.until', { time: time(expiresAt) })] : []),
    ...(attempts.length === 0 ? [say('message.callback.noAttempt')] : []),
  ]
  return { title: say(`message.callback.${outcome}`, { host }), note: notes.join('. ') }
}
