import { registerHooks } from 'node:module'

/** Takes the place of `src/domain/statistics/statistics.ts` in a process that is started with this file. */
const nothing = `
export const countNew = batches => batches
export const countAccepted = async () => {}
export const countStatusChanges = async () => {}
export const addTraffic = async () => {}
`

registerHooks({
  load: (url, context, next) =>
    url.endsWith('/src/domain/statistics/statistics.ts')
      ? { format: 'module', source: nothing, shortCircuit: true }
      : next(url, context),
})
