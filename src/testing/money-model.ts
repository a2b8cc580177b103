import type { PricingModel } from '../domain/pricing/tariff.ts'

/**
 * A model of the money of one company, slow and simple: it stores nothing that it can count again. It knows the rules
 * and uses none of the code that it checks. Amounts are whole ten-thousandths.
 */

export type Rule = { model: PricingModel; steps: { from: number; price: bigint; pack: bigint }[] }

export type ModelMessage = {
  uuid: string
  dispatchId: number
  laneId: number
  seq: number
  brand: string
  destination: string
  parts: number
  price: bigint
  status: 'CREATED' | 'SENT' | 'DELIVERED' | 'FAILED'
  final: bigint | null
  /** A worker once leased the message, so that a result may still arrive. */
  touched: boolean
}

type ModelDispatch = { status: 'CREATED' | 'STARTED' | 'STOPPED' | 'COMPLETED'; holds: Map<string, bigint> }

export type News = {
  uuid: string
  sentAt?: Date
  refused?: { at: Date; errorCode: number }
  final?: { status: 'DELIVERED' | 'FAILED'; at: Date }
}

export type Model = ReturnType<typeof createModel>

export function createModel(rules: Record<string, Rule>) {
  const messages = new Map<string, ModelMessage>()
  const dispatches = new Map<number, ModelDispatch>()
  /** Leased chunks. */
  const leases = new Map<number, { laneId: number; firstSeq: number; nextSeq: number }>()
  const spent = new Map<string, bigint>()
  const delivered = new Map<string, number>()
  const people = new Map<string, Set<string>>()
  const feeMonths = new Set<string>()
  const terms = { balance: 0n, budget: null as bigint | null, prepaid: false }

  const all = () => [...messages.values()]
  const of = (dispatchId: number) => all().filter(message => message.dispatchId === dispatchId)
  const dispatchOf = (message: ModelMessage) => dispatches.get(message.dispatchId)!

  const inHands = (message: ModelMessage) =>
    [...leases.values()].some(
      ({ laneId, firstSeq, nextSeq }) => laneId === message.laneId && message.seq >= firstSeq && message.seq < nextSeq,
    )

  function holds(message: ModelMessage): boolean {
    if (message.status === 'SENT') return true
    if (message.status !== 'CREATED') return false
    const { status } = dispatchOf(message)
    return status === 'STARTED' || (status === 'STOPPED' && inHands(message))
  }

  function reserved(): bigint {
    let sum = 0n
    for (const message of all()) if (holds(message)) sum += message.price
    for (const dispatch of dispatches.values()) for (const amount of dispatch.holds.values()) sum += amount
    return sum
  }

  const spentIn = (month: string) => spent.get(month) ?? 0n

  function spend(month: string, amount: bigint) {
    spent.set(month, spentIn(month) + amount)
    terms.balance -= amount
  }

  const countOf = (brand: string, month: string) => delivered.get(`${brand}/${month}`) ?? 0

  function peopleOf(brand: string, month: string): Set<string> {
    const key = `${brand}/${month}`
    if (!people.has(key)) people.set(key, new Set())
    return people.get(key)!
  }

  /** The packages that apply to the dispatch, by `brand/from`. */
  function withinReach(dispatchId: number, month: string): Map<string, bigint> {
    const found = new Map<string, bigint>()
    for (const [brand, rule] of Object.entries(rules)) {
      if (rule.model !== 'MAU') continue
      const known = peopleOf(brand, month)
      const fresh = new Set<string>()
      for (const message of of(dispatchId)) {
        const pending = message.status === 'CREATED' || message.status === 'SENT'
        if (message.brand === brand && pending && !known.has(message.destination)) fresh.add(message.destination)
      }
      for (const { from, pack } of rule.steps) {
        if (from > known.size && from <= known.size + fresh.size) found.set(`${brand}/${from}`, pack)
      }
    }
    return found
  }

  function start(dispatchId: number, month: string): 'done' | 'refused' {
    const dispatch = dispatches.get(dispatchId)!
    if (dispatch.status === 'STARTED') return 'done'
    if (dispatch.status === 'COMPLETED') return 'refused'
    const packages = withinReach(dispatchId, month)
    let amount = 0n
    for (const pack of packages.values()) amount += pack
    for (const message of of(dispatchId)) if (message.status === 'CREATED' && !holds(message)) amount += message.price
    if (terms.budget !== null && spentIn(month) + reserved() + amount > terms.budget) return 'refused'
    if (terms.prepaid && terms.balance - reserved() < amount) return 'refused'
    dispatch.status = 'STARTED'
    dispatch.holds = packages
    completeIfDone(dispatchId)
    return 'done'
  }

  function stop(dispatchId: number): 'done' | 'refused' {
    const dispatch = dispatches.get(dispatchId)!
    if (dispatch.status === 'STOPPED') return 'done'
    if (dispatch.status !== 'STARTED') return 'refused'
    dispatch.status = 'STOPPED'
    dispatch.holds.clear()
    return 'done'
  }

  function completeIfDone(dispatchId: number) {
    const dispatch = dispatches.get(dispatchId)!
    if (dispatch.status !== 'STARTED' && dispatch.status !== 'STOPPED') return
    if (of(dispatchId).some(({ status }) => status === 'CREATED' || status === 'SENT')) return
    dispatch.status = 'COMPLETED'
    dispatch.holds.clear()
  }

  function record(batch: News[], month: string) {
    const ends: { message: ModelMessage; at: Date }[] = []
    for (const uuid of new Set(batch.map(news => news.uuid))) {
      const message = messages.get(uuid)!
      if (message.status === 'DELIVERED' || message.status === 'FAILED') continue
      const ofIt = batch.filter(news => news.uuid === uuid)
      const end = ofIt.find(news => news.final)?.final
      const sent = ofIt.some(news => news.sentAt)
      const refused = ofIt.some(news => news.refused)
      if (end?.status === 'DELIVERED') ends.push({ message, at: end.at })
      if (end) message.status = end.status
      else if (message.status === 'CREATED' && sent) message.status = 'SENT'
      else if (message.status === 'CREATED' && refused) message.status = 'FAILED'
      if (message.status === 'FAILED') message.final = 0n
    }
    ends.sort((a, b) => a.at.getTime() - b.at.getTime() || (a.message.uuid < b.message.uuid ? -1 : 1))
    for (const { message } of ends) bill(message, month)
    for (const { uuid } of batch) completeIfDone(messages.get(uuid)!.dispatchId)
  }

  function bill(message: ModelMessage, month: string) {
    const { model, steps } = rules[message.brand]!
    if (model === 'MAU') reach(message, month)
    delivered.set(`${message.brand}/${month}`, countOf(message.brand, month) + 1)
    const count = model === 'MAU' ? peopleOf(message.brand, month).size : countOf(message.brand, month)
    let price = steps[0]!.price
    for (const step of steps) if (model !== 'FIXED' && step.from <= count) price = step.price
    message.final = price * BigInt(message.parts)
    spend(month, message.final)
  }

  function reach(message: ModelMessage, month: string) {
    const known = peopleOf(message.brand, month)
    if (known.has(message.destination)) return
    known.add(message.destination)
    for (const { from, pack } of rules[message.brand]!.steps) {
      if (from !== known.size) continue
      spend(month, pack)
      for (const dispatch of dispatches.values()) dispatch.holds.delete(`${message.brand}/${from}`)
    }
  }

  function chargeFee(month: string, fee: bigint) {
    if (feeMonths.has(month)) return
    feeMonths.add(month)
    spend(month, fee)
  }

  return { messages, dispatches, leases, spent, terms, of, inHands, reserved, spentIn, start, stop, record, chargeFee }
}
