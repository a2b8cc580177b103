import { Worker } from 'node:worker_threads'
import { startEngine } from '../src/engine/engine.ts'
import { serveParent } from './child.ts'
import { CONNECTIONS, connectionsOfCodes, openEngineOptions } from './engine-options.ts'

/** The engine as `tidings engine` runs it. */
const options = openEngineOptions(CONNECTIONS - connectionsOfCodes)
const startCodesThread = () => new Worker(new URL('codes-thread.ts', import.meta.url))
const engine = await startEngine({ ...options, startCodesThread })

serveParent(0, async () => {
  await engine.stop()
  await options.sql.end({ timeout: 1 })
})
