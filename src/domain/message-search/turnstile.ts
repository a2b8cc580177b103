import { AppError } from '../../base/errors.ts'

export type TurnstileLimits = {
  /** At once, of everybody and of one company. */
  most: number
  mostOfOne: number
  /** In line; each for a while only. */
  mostWaiting: number
  mostWaitingOfOne: number
  patienceMs: number
}

export type Turnstile = { through<T>(companyId: number, work: () => Promise<T>): Promise<T> }

type Waiting = { companyId: number; letIn: () => void }

const RETRY_AFTER_SECONDS = 2

/**
 * Lets a few through at a time, and of one company fewer than of all, so that one that asks without end keeps nobody
 * else out. Who finds no room waits in line for a moment, and is then sent away to come again.
 */
export function createTurnstile(limits: TurnstileLimits): Turnstile {
  const inside: number[] = []
  const line: Waiting[] = []

  const hasRoom = (companyId: number) => inside.length < limits.most && countOf(inside, companyId) < limits.mostOfOne

  async function comeIn(companyId: number): Promise<void> {
    if (hasRoom(companyId)) inside.push(companyId)
    else await waitInLine(companyId)
  }

  function waitInLine(companyId: number): Promise<void> {
    const ofOne = line.filter(waiting => waiting.companyId === companyId).length
    if (line.length >= limits.mostWaiting || ofOne >= limits.mostWaitingOfOne) throw tooMany(limits)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { companyId, letIn: resolve }
    line.push(waiting)
    const patience = setTimeout(() => {
      line.splice(line.indexOf(waiting), 1)
      reject(tooMany(limits))
    }, limits.patienceMs)
    return promise.finally(() => clearTimeout(patience))
  }

  /** Whoever is first in line and has room now takes the place. */
  function leave(companyId: number) {
    inside.splice(inside.indexOf(companyId), 1)
    const next = line.findIndex(waiting => hasRoom(waiting.companyId))
    if (next < 0) return
    const [first] = line.splice(next, 1)
    inside.push(first!.companyId)
    first!.letIn()
  }

  return {
    async through(companyId, work) {
      await comeIn(companyId)
      try {
        return await work()
      } finally {
        leave(companyId)
      }
    },
  }
}

const countOf = (list: number[], value: number) => list.filter(each => each === value).length

const tooMany = ({ mostOfOne }: TurnstileLimits) =>
  new AppError('too_many_requests', 'Too many searches at once: try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    limit: mostOfOne,
  })
