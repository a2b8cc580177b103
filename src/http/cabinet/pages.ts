import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../base/errors.ts'

const builtCabinet = new URL('../../../dist/cabinet/', import.meta.url)

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The encodings of the compressed copies that the build writes, the smallest first. */
const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const

const hide = { schema: { hide: true } }

/**
 * The web application: its files at `/cabinet/`, and its index at every other path below, so that every page has an
 * address. `/` redirects there.
 */
export function registerCabinetPages(app: FastifyInstance, folder = builtCabinet) {
  const files = new BuiltFiles(folder)

  app.get('/', hide, async (_, reply) => reply.redirect('cabinet/'))

  // With and without a slash at the end. Addresses in the index are relative to the path with the slash.
  app.get('/cabinet', hide, async (request, reply) =>
    pathOf(request) === '/cabinet' ? reply.redirect('cabinet/') : sendIndex(reply, files, ''),
  )

  app.get('/cabinet/*', hide, async (request, reply) => {
    const path = (request.params as { '*': string })['*']
    if (isOfApi(path)) throw new AppError('not_found', 'Not found')
    if (await files.has(path)) return sendFile(request, reply, files, path)
    if (path.startsWith('assets/')) throw new AppError('not_found', 'Not found')
    return sendIndex(reply, files, pathOf(request).slice('/cabinet/'.length))
  })
}

function pathOf({ url }: FastifyRequest): string {
  const [path = ''] = url.split('?', 1)
  return path
}

const isOfApi = (path: string) => path === 'api' || path.startsWith('api/')

/** Scripts, fonts and answers come from this service alone. The libraries write styles with the nonce of the page. */
const policyOf = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'", // documents
    "manifest-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The index has the folder of the cabinet as a relative address, because a proxy may serve it below another path. */
async function sendIndex(reply: FastifyReply, files: BuiltFiles, path: string) {
  const nonce = randomBytes(16).toString('base64')
  const index = (await files.index()).replaceAll('%NONCE%', nonce).replaceAll('%BASE%', baseOf(path))
  return reply
    .type(types['.html']!)
    .headers({
      ...usualHeaders,
      ...preloadOfSession(path),
      'cache-control': 'no-cache',
      'content-security-policy': policyOf(nonce),
    })
    .send(index)
}

/** Pages that a person opens before signing in: the routes of `web/src/router.tsx` outside the shell. */
export const pagesWithoutSession = ['sign-in', 'accept-invitation']

/**
 * The browser asks for the session together with the scripts of the page, because the first query of the page waits for
 * it. A page that does not use the answer must not ask: its first request after signing in would get the old answer.
 */
const preloadOfSession = (path: string) =>
  pagesWithoutSession.includes(path.replace(/\/$/, ''))
    ? {}
    : { link: `<${baseOf(path)}api/session>; rel=preload; as=fetch; crossorigin` }

const baseOf = (path: string) => '../'.repeat(path.split('/').length - 1) || './'

const usualHeaders = {
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
}

/** Names of assets contain a hash of their content. Other files may change with the next build. */
async function sendFile({ headers }: FastifyRequest, reply: FastifyReply, files: BuiltFiles, path: string) {
  const accepted = String(headers['accept-encoding'] ?? '')
  const encoding = encodings.find(({ name, ending }) => accepts(accepted, name) && files.hasNow(path + ending))
  if (encoding) reply.header('content-encoding', encoding.name)
  const isHashed = path.startsWith('assets/')
  return reply
    .type(types[extname(path)] ?? 'application/octet-stream')
    .headers({
      ...usualHeaders,
      vary: 'accept-encoding',
      'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    .send(await files.read(path + (encoding?.ending ?? '')))
}

const accepts = (accepted: string, encoding: string) =>
  accepted.split(',').some(one => one.trim().split(';', 1)[0] === encoding && !/;\s*q=0(\.0*)?$/.test(one.trim()))

/**
 * The files of the build. The process lists them once and keeps each file after its first read, so that a new build
 * needs a restart. It opens only paths of the list.
 */
class BuiltFiles {
  readonly #folder: URL
  #names: Set<string> | undefined
  readonly #contents = new Map<string, Promise<Buffer>>()

  constructor(folder: URL) {
    this.#folder = folder
  }

  /** The index, the compressed copies and the bundler's manifest have no address of their own. */
  async has(path: string): Promise<boolean> {
    this.#names ??= await namesIn(this.#folder)
    return this.#names.has(path) && path !== 'index.html' && !/\.(br|gz)$|^\./.test(path)
  }

  hasNow(path: string): boolean {
    return this.#names?.has(path) ?? false
  }

  read(path: string): Promise<Buffer> {
    const content = this.#contents.get(path) ?? readFile(new URL(path, this.#folder))
    this.#contents.set(path, content)
    content.catch(() => this.#contents.delete(path))
    return content
  }

  async index(): Promise<string> {
    try {
      return (await this.read('index.html')).toString()
    } catch (error) {
      if (!isMissing(error)) throw error
      throw new AppError('not_ready', 'The cabinet is not built: run `npm run build:web`', { retryAfterSeconds: 60 })
    }
  }
}

async function namesIn(folder: URL): Promise<Set<string>> {
  try {
    const entries = await readdir(folder, { recursive: true })
    return new Set(entries.map(name => name.replaceAll('\\', '/')))
  } catch (error) {
    if (!isMissing(error)) throw error
    return new Set()
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'
