import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorsPage } from './errors-page.ts'
import { docsStyle, referencePage, referenceScript } from './page.ts'

/** The browser part of Scalar's API reference, in one file. Its server part would load fonts and scripts from other hosts. */
const bundle = fileURLToPath(new URL('./js/standalone.js', import.meta.resolve('@scalar/fastify-api-reference')))

const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

/** Serves the API reference and the explanation of error codes. The pages load nothing from other hosts. */
export async function registerDocsPage(app: FastifyInstance) {
  const serve = (path: string, type: string, policy: string, content: () => Promise<Content>) =>
    app.get(path, { schema: { hide: true } }, async (request, reply) =>
      send(request, reply, type, policy, await content()),
    )

  serve(
    '/docs',
    html,
    referencePolicy,
    once(() => packed(referencePage)),
  )
  serve(
    '/docs/errors',
    html,
    plainPolicy,
    once(() => packed(errorsPage())),
  )
  serve(
    '/docs/reference.js',
    script,
    plainPolicy,
    once(() => packed(referenceScript)),
  )
  serve(
    '/docs/docs.css',
    style,
    plainPolicy,
    once(() => packed(docsStyle)),
  )
  serve(
    '/docs/scalar.js',
    script,
    plainPolicy,
    once(async () => packed(await readFile(bundle))),
  )
}

const policyOf = (sources: Record<string, string>) =>
  Object.entries({
    'default-src': "'none'",
    ...sources,
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
    .map(([name, source]) => `${name} ${source}`)
    .join('; ')

/** Scalar writes styles into the page, and shows images and icons from `data:` URLs. Scripts load from this server only. */
const referencePolicy = policyOf({
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
})
const plainPolicy = policyOf({ 'style-src': "'self'", 'img-src': "'self' data:" })

// Sending -----------------------------------------------------------------------------------------------------------

type Content = { plain: Buffer; gzipped: Buffer }

/** Makes the content at the first request and keeps it, because most processes never show the page. */
function once(make: () => Promise<Content>): () => Promise<Content> {
  let made: Promise<Content> | undefined
  return () => {
    made ??= make()
    return made
  }
}

const packed = async (content: string | Buffer): Promise<Content> => {
  const plain = Buffer.from(content)
  return { plain, gzipped: await promisify(gzip)(plain) }
}

function send(request: FastifyRequest, reply: FastifyReply, type: string, policy: string, content: Content) {
  const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  if (zipped) reply.header('content-encoding', 'gzip')
  return reply
    .type(type)
    .header('cache-control', type === html ? 'no-cache' : 'public, max-age=3600')
    .header('vary', 'accept-encoding')
    .header('content-security-policy', policy)
    .header('x-frame-options', 'DENY')
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .send(zipped ? content.gzipped : content.plain)
}
