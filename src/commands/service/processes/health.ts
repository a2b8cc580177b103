import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { UsageError } from '../../../base/errors.ts'
import type { Config } from '../../../config.ts'
import { openDatabase } from '../../../db/database.ts'
import { isEngineSeen } from '../../../domain/engines/engines.ts'
import type { Call } from '../../command.ts'
import { sentenceOf } from '../../failure.ts'
import { optionalId } from '../../options.ts'
import { urlOf } from '../http-listeners.ts'

const ANSWER_TIMEOUT_MS = 3000
const TRY_EVERY_MS = 250

/** For supervisors of processes. It ends with an error, in one sentence, when the process does not work. */
export async function checkHealth(call: Call) {
  const { config, switches, print } = call
  const pid = optionalId(call, 'pid')
  const waitMs = (optionalId(call, 'wait') ?? 0) * 1000
  await untilWell(switches.engine ? () => checkEngine(config, pid) : () => checkHttp(config), waitMs)
  print({ health: 'ok' }, switches.engine ? 'The engine is at work.' : 'The HTTP server answers.')
}

/** Checks until the check passes or the time is over. The last error is thrown. */
async function untilWell(check: () => Promise<void>, waitMs: number) {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (sentenceOf(error) === undefined || performance.now() + TRY_EVERY_MS > until) throw error
    }
    await pause(TRY_EVERY_MS)
  }
}

/** Asks `/healthz` and not `/readyz`: restarting an HTTP process helps neither the database nor an engine. */
async function checkHttp({ host, port }: Config) {
  const url = `${urlOf(host, port)}/healthz`
  const status = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }).then(
    response => response.status,
    () => 'no answer',
  )
  if (status !== 200) throw new UsageError(`The HTTP server at ${url} does not work: ${status}.`)
}

/** An engine has no port, so its row in the database tells. The schema is not migrated for it. */
async function checkEngine(config: Config, pid: number | undefined) {
  const host = hostname()
  const database = await openDatabase({ ...config, databaseConnections: 1 }, {})
  try {
    if (await isEngineSeen(database.sql, host, pid)) return
  } finally {
    await database.close()
  }
  const which = pid === undefined ? 'No engine' : `The engine with the process id ${pid}`
  throw new UsageError(`${which} on ${host} has ${pid === undefined ? '' : 'not '}reported within ten seconds.`)
}
