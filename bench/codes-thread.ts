import { parentPort } from 'node:worker_threads'
import { serveCodes } from '../src/engine/codes/codes-engine.ts'
import { connectionsOfCodes, openEngineOptions } from './engine-options.ts'

/** The thread in which the engine of a bench sends verification codes. */
const options = openEngineOptions(connectionsOfCodes)
await serveCodes(options, parentPort!)
await options.sql.end({ timeout: 1 })
