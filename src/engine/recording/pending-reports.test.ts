import { expect, test } from 'vitest'
import { PendingReports } from './pending-reports.ts'
import { SetAside } from './set-aside.ts'

function pendingReports(count: number) {
  const pending = new PendingReports()
  for (let i = 0; i < count; i++) pending.begin()
  return pending
}

/** Whether a promise has settled after all promises that were ready. */
async function isSettled(promise: Promise<unknown>) {
  let settled = false
  void promise.finally(() => (settled = true)).catch(() => {})
  await new Promise(resolve => setImmediate(resolve))
  return settled
}

test('without reports there is nothing to wait for', async () => {
  await expect(new PendingReports().recorded()).resolves.toBeUndefined()
})

test('every caller waits until the last report is written', async () => {
  const pending = pendingReports(2)
  const waiting = [pending.ended(), pending.ended(), pending.recorded()]
  pending.written()
  expect(await Promise.all(waiting.map(isSettled))).toEqual([false, false, false])
  pending.written()
  await Promise.all(waiting)
})

test('a report that is set aside is no failure of the others, any other failure is', async () => {
  const pending = pendingReports(2)
  pending.failed('a', new SetAside('never'))
  pending.failed('b', new Error('stopped'))
  await pending.ended()
  expect([...pending.failures.keys()]).toEqual(['a', 'b'])
  await expect(pending.recorded()).rejects.toThrow('stopped')

  const setAside = pendingReports(1)
  setAside.failed('a', new SetAside('never'))
  await setAside.recorded()
})
