import { useFormats } from '../../format.ts'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import type { Life, Moment } from '../messages.ts'

export type MomentWords = { title: string; amount?: string; note?: string }

type Of<Kind extends Moment['kind']> = Extract<Moment, { kind: Kind }>

/** The text of one event of a message. */
export function useMomentWords(life: Life) {
  const { say } = useWords()
  const formats = useFormats()
  const { channel } = useTrafficNames()
  const money = (amount: number) => formats.money(amount, life.currency)

  const seesPrices = life.steps[0]?.money !== null

  const accepted = ({ position, method, key, person }: Of<'accepted'>): MomentWords => {
    const title = say('message.accepted')
    if (life.dispatchId !== null)
      return {
        title,
        note: say('message.accepted.dispatch', { name: life.dispatchName ?? '', place: (position ?? 0) + 1 }),
      }
    if (person) return { title, note: say('message.accepted.person', { login: person.login }) }
    const way = method === null || method === 'DISPATCH' ? 'API' : method
    if (!key) return { title, note: say(`message.accepted.${way}`) }
    const name = key.name || say('message.accepted.unnamedKey', { id: String(key.keyId) })
    return {
      title,
      note: say(way === 'VERIFIER_API' ? 'message.accepted.verifierKey' : 'message.accepted.key', { name }),
    }
  }

  const priced = ({ price, parts, model }: Of<'priced'>): MomentWords => {
    const each = say('message.priced.parts', { count: parts, price: money(parts > 0 ? price / parts : price) })
    return {
      title: say('message.priced'),
      amount: money(price),
      note: `${each}, ${say(`message.priced.${model ?? 'none'}`)}`,
    }
  }

  const waiting = ({ reasons, notBefore }: Of<'waiting'>): MomentWords => {
    const isStopped = life.dispatchStatus !== null && life.dispatchStatus !== 'STARTED'
    const notes = [
      ...(notBefore ? [say('message.waiting.until', { time: formats.moment(notBefore) })] : []),
      ...(isStopped ? [say('message.waiting.notStarted')] : []),
      ...reasons.map(reasonWords).filter(note => note !== ''),
    ]
    return { title: say('message.waiting'), note: notes.join(' ') || say('message.waiting.turn') }
  }

  const reasonWords = (reason: Of<'waiting'>['reasons'][number]): string => {
    switch (reason.kind) {
      case 'engine':
        return say('message.waiting.engine')
      case 'company':
        return say('message.waiting.company')
      case 'sender':
        return say('message.waiting.sender', { name: reason.senderName })
      case 'window':
        return say('message.waiting.window', { time: formats.moment(reason.until) })
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

  const sent = ({ parts }: Of<'sent'>): MomentWords => {
    if (parts === 'gone') return { title: say('message.sent'), note: say('message.sent.gone') }
    if (parts === 'unread') return { title: say('message.sent'), note: say('message.sent.unread') }
    const gateways = [...new Set(parts.map(({ gateway }) => gateway))].join(', ')
    if (gateways === '') return { title: say('message.sent'), note: say('message.sent.none') }
    return { title: say('message.sent.through', { gateway: gateways }) }
  }

  const failed = ({ wasSent, isRejected, released }: Of<'failed'>): MomentWords => ({
    title: say(isRejected ? 'message.failed.rejected' : wasSent ? 'message.failed.sent' : 'message.failed.unsent'),
    ...(released > 0 ? { amount: say('message.amount.released', { amount: money(released) }) } : {}),
  })

  const callback = ({ callback: { url, status, events, eventCount, expiresAt, attempts } }: Of<'callback'>) => {
    const host = URL.parse(url)?.host ?? url
    const names = events.map(({ name }) => name).join(', ')
    const isReceived = events.every(event => event.isReceived)
    const outcome = isReceived ? 'received' : status === 'EXPIRED' ? 'expired' : 'waiting'
    const notes = [
      eventCount > 1
        ? say('message.callback.batch', { events: names, count: eventCount })
        : say('message.callback.alone', { events: names }),
      ...(outcome === 'waiting' ? [say('message.callback.until', { time: formats.moment(expiresAt) })] : []),
      ...(attempts.length === 0 ? [say('message.callback.noAttempt')] : []),
    ]
    return { title: say(`message.callback.${outcome}`, { host }), note: notes.join('. ') }
  }

  return (moment: Moment): MomentWords => {
    switch (moment.kind) {
      case 'accepted':
        return accepted(moment)
      case 'next step':
        return { title: say('message.nextStep'), note: say('message.nextStep.note') }
      case 'priced':
        return priced(moment)
      case 'held':
        return {
          title: say('message.held'),
          amount: money(moment.amount),
          note: say(moment.isByStart ? 'message.held.start' : 'message.held.accepted'),
        }
      case 'waiting':
        return waiting(moment)
      case 'sent':
        return sent(moment)
      case 'delivered':
        return {
          title: say('message.delivered'),
          ...(seesPrices ? { amount: say('message.amount.charged', { amount: money(moment.charged) }) } : {}),
          note: say('message.delivered.note'),
        }
      case 'failed':
        return failed(moment)
      case 'read':
        return { title: say('message.read'), note: say('message.read.note') }
      case 'late receipt':
        return {
          title: say(moment.status === 'DELIVERED' ? 'message.late.delivered' : 'message.late.failed'),
          note: say('message.late.note'),
        }
      case 'clicked':
        return {
          title: say('message.clicked'),
          note: say('message.clicked.note', { url: moment.url, place: moment.place, count: moment.clicks }),
        }
      case 'callback':
        return callback(moment)
    }
  }
}
