import type { FastifyInstance } from 'fastify'
import { AppError } from '../../base/errors.ts'

/**
 * Refuses requests without a route before their body is read: 405 with `Allow` if the path exists with other methods,
 * otherwise 404. Call it before any route is added.
 */
export function refuseUnknownRoutes(app: FastifyInstance) {
  const methodsByPattern = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = withoutSlashAtEnd(url)
    const methods = methodsByPattern.get(pattern) ?? new Set()
    for (const one of [method].flat()) methods.add(one)
    methodsByPattern.set(pattern, methods)
  })

  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return
    const allowed = methodsOf(request.url)
    if (allowed.length === 0) throw new AppError('not_found', 'Not found')
    reply.header('allow', allowed.join(', '))
    throw new AppError('method_not_allowed', `${request.method} is not allowed here: use ${inWords(allowed)}`)
  })

  function methodsOf(url: string): string[] {
    const [whole = ''] = url.split('?', 1)
    const path = withoutSlashAtEnd(whole)
    const fitting = [...methodsByPattern].filter(([pattern]) => fits(path, pattern))
    return [...new Set(fitting.flatMap(([, methods]) => [...methods]))].sort()
  }
}

const withoutSlashAtEnd = (path: string) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)

/** A pattern has plain segments and whole parameters (`/company/:id`), nothing else. */
function fits(path: string, pattern: string): boolean {
  const segments = path.split('/')
  const wanted = pattern.split('/')
  return (
    segments.length === wanted.length &&
    wanted.every((segment, i) => (segment.startsWith(':') ? segments[i] !== '' : segment === segments[i]))
  )
}

const inWords = (methods: string[]) => {
  const shown = methods.filter(method => method !== 'HEAD' || !methods.includes('GET'))
  return shown.join(' or ')
}
