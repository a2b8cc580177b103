import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { versionOfProgram } from '../../../base/process/vitals.ts'
import { Tracer } from '../../../base/tracing/tracer.ts'
import type { Config } from '../../../config.ts'
import { SpanExporter } from './span-exporter.ts'

/** `stop` sends the spans that still wait. */
export type OpenTracer = { tracer: Tracer; stop(): Promise<void> }

/** Undefined without an address for traces. */
export function openTracer(
  { config, log }: { config: Config; log: Logger },
  role: 'api' | 'engine',
): OpenTracer | undefined {
  const { tracesUrl: url, tracesHeaders: headers, tracesShare } = config
  if (url === undefined) return
  const resource = {
    'service.name': `tidings-${role}`,
    'service.namespace': 'tidings',
    'service.version': versionOfProgram(),
    'service.instance.id': `${hostname()}:${process.pid}`,
    'host.name': hostname(),
  }
  const exporter = new SpanExporter({ url, headers, resource, log })
  return { tracer: new Tracer(tracesShare, exporter.add), stop: () => exporter.stop() }
}
