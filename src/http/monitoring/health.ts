import type { FastifyInstance } from 'fastify'
import { AppError } from '../../base/errors.ts'
import { countRunningEngines } from '../../domain/engines/engines.ts'
import type { Context } from '../context.ts'

/**
 * `/healthz`: the process runs and is not about to stop. `/readyz`: the database also answers, and an engine is at work. A wrong clock is only a warning,
 * because the service uses the clock of the database.
 */
export function registerHealth(
  app: FastifyInstance,
  { sql, reading, clockOffMs = () => 0, isDraining = () => false }: Context,
) {
  const refuseDraining = () => {
    if (isDraining()) throw notReady('This process is draining: use another one')
  }
  app.get('/healthz', async () => {
    refuseDraining() // a proxy may ask here: a process that only lacks an engine accepts messages
    return { status: 'ok' }
  })
  app.get('/readyz', async () => {
    refuseDraining()
    const atWork = await countRunningEngines(sql).catch(() => {
      throw notReady('The database does not answer')
    })
    if (atWork.engines === 0) throw notReady('No engine is at work: start one with `tidings engine`')
    const warnings = [
      ...wrongClock('this process', clockOffMs()),
      ...wrongClock('an engine', atWork.clockOffMs),
      ...unusedReplica(reading),
    ]
    return { status: 'ready', ...(warnings.length > 0 ? { warnings } : {}) }
  })
}

function wrongClock(of: string, offMs: number): string[] {
  if (offMs === 0) return []
  const seconds = Math.round(Math.abs(offMs) / 1000)
  return [`The clock of ${of} is ${seconds} s ${offMs > 0 ? 'ahead of' : 'behind'} the database's: set it right`]
}

function unusedReplica(reading: Context['reading']): string[] {
  if (!reading || reading.state().isReplica) return []
  const { lagMs } = reading.state()
  const why = lagMs === undefined ? 'does not answer' : `is ${Math.round(lagMs / 1000)} s behind`
  return [`The standby of TIDINGS_READ_URL ${why}: the primary answers in its place`]
}

const notReady = (why: string) => new AppError('not_ready', why, { retryAfterSeconds: 2 })
