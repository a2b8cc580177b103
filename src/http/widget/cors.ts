import type { FastifyInstance } from 'fastify'

const PREFLIGHT_SECONDS = 7200

/**
 * Lets pages of any origin read the answers in this scope, so that the widget can show why it does not work on a page.
 * The routes check whether the origin may use the widget. They use no cookies.
 */
export function allowAnyOrigin(scope: FastifyInstance, path: string) {
  scope.addHook('onRequest', async ({ headers: { origin } }, reply) => {
    reply.header('vary', 'Origin')
    if (origin !== undefined) reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', 'Retry-After, X-Request-Id')
    reply.header('cache-control', 'no-store')
  })
  scope.options(path, { schema: { hide: true } }, async (_, reply) =>
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'Content-Type',
        'access-control-max-age': String(PREFLIGHT_SECONDS),
      })
      .send(),
  )
}
