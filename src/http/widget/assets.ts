import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../base/errors.ts'

const builtWidget = new URL('../../../dist/widget/', import.meta.url)

const types = {
  'VerifyWidget.umd.min.js': 'text/javascript; charset=utf-8',
  'VerifyWidget.css': 'text/css; charset=utf-8',
  'VerifyWidget.d.ts': 'text/plain; charset=utf-8',
}

type Name = keyof typeof types
type File = { plain: Buffer; gzipped: Buffer; etag: string }

/** Serves `GET /widget/VerifyWidget.umd.min.js` and its other files to pages of any origin. */
export function registerWidgetAssets(app: FastifyInstance, folder = builtWidget) {
  const files = new Map<Name, File>()

  /** Reads a file once and keeps it. A new build is served after a restart. */
  async function fileOf(name: Name): Promise<File> {
    const file = files.get(name) ?? (await read(new URL(name, folder)))
    files.set(name, file)
    return file
  }

  for (const name of Object.keys(types) as Name[])
    app.get(`/widget/${name}`, { schema: { hide: true } }, async (request, reply) =>
      send(request, reply, types[name], await fileOf(name)),
    )
}

async function read(path: URL): Promise<File> {
  const plain = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new AppError('not_ready', 'The widget is not built: run `npm run build:widget`', { retryAfterSeconds: 60 })
  })
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  // Weak: the same tag for the gzipped bytes.
  return { plain, gzipped: await promisify(gzip)(plain, { level: 9 }), etag: `W/"${hash}"` }
}

function send(request: FastifyRequest, reply: FastifyReply, type: string, { plain, gzipped, etag }: File) {
  reply.headers({
    etag,
    'cache-control': 'public, max-age=300',
    vary: 'accept-encoding',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  })
  if (isKnown(request, etag)) return reply.code(304).send()
  const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  if (isZipped) reply.header('content-encoding', 'gzip')
  return reply.type(type).send(isZipped ? gzipped : plain)
}

const isKnown = ({ headers }: FastifyRequest, etag: string) =>
  (headers['if-none-match'] ?? '')
    .split(',')
    .map(tag => tag.trim())
    .some(tag => tag === etag || tag === '*')
