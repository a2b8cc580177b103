import type { AgainAnswer, DispatchAnswer } from '../../../../src/http/cabinet/dispatches/dispatches.ts'
import { ask } from '../../api.ts'
import { mayPass } from '../../session.ts'

/** A million messages take about a minute. A proxy may end the request earlier. */
const TIMEOUT_MS = 600_000
const POLL_EVERY_MS = 5000
const MOST_POLLS = 60

/**
 * Creates the dispatch that sends failed messages again. Without an answer, or with an error of the server or of a proxy,
 * the dispatch may still be made. Then this calls `onUnanswered` and polls the original for some minutes, until it names the
 * new dispatch.
 */
export async function createAgain(
  dispatchId: number,
  language: string,
  onUnanswered: () => void,
  pauseMs = POLL_EVERY_MS,
): Promise<AgainAnswer> {
  try {
    const path = `/dispatches/${dispatchId}/again?language=${language}`
    return await ask<AgainAnswer>('POST', path, undefined, undefined, TIMEOUT_MS)
  } catch (error) {
    if (!mayPass(error)) throw error
    onUnanswered()
    const made = await pollForAgain(dispatchId, pauseMs)
    if (!made) throw error
    return { dispatchId: made.dispatchId, isNew: true }
  }
}

async function pollForAgain(dispatchId: number, pauseMs: number) {
  for (let poll = 0; poll < MOST_POLLS; poll++) {
    const again = await readAgain(dispatchId)
    if (again) return again
    await new Promise(resolve => setTimeout(resolve, pauseMs))
  }
  return null
}

/** The dispatch that was made from this dispatch. Null if there is none yet, or if the server cannot be reached now. */
async function readAgain(dispatchId: number) {
  try {
    return (await ask<DispatchAnswer>('GET', `/dispatches/${dispatchId}`)).again
  } catch (error) {
    if (!mayPass(error)) throw error
    return null
  }
}
