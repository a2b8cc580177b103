import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerError } from '../error-handler.ts'
import { registerCabinetPages } from './pages.ts'

const script = 'console.log(1)'
let folder: string
let app: FastifyInstance

function anApp(from: string) {
  const made = fastify({ routerOptions: { ignoreTrailingSlash: true } })
  made.setErrorHandler(answerError)
  registerCabinetPages(made, pathToFileURL(`${from}/`))
  return made
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidings-pages-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<base href="%BASE%"><meta nonce="%NONCE%">')
  await writeFile(join(folder, 'favicon.svg'), '<svg/>')
  await writeFile(join(folder, 'assets', 'main-abc.js'), script)
  await writeFile(join(folder, 'assets', 'main-abc.js.gz'), gzipSync(script))
  app = anApp(folder)
})
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true })
})

const get = (url: string, headers = {}) => app.inject({ url, headers })

describe('the index', () => {
  test.each([
    ['/cabinet/', './'],
    ['/cabinet/people', './'],
    ['/cabinet/people?company=2', './'],
    ['/cabinet/people/', '../'],
    ['/cabinet/dispatches/48213', '../'],
    ['/cabinet/a/b/c', '../../'],
  ])('is at %s, and has the folder of the cabinet as %s', async (url, base) => {
    const { statusCode, headers, body } = await get(url)
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(body).toContain(`<base href="${base}">`)
  })

  test('is requested again every time, may not be framed, and takes scripts only from this service', async () => {
    const { headers, body } = await get('/cabinet/')
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-")
    expect(policy).not.toContain('unsafe')
    const [, nonce] = /nonce="([^"]+)"/.exec(body)!
    expect(policy).toContain(`'nonce-${nonce}'`)
    expect((await get('/cabinet/')).body).not.toContain(nonce)
  })

  test('asks the browser for the session at once, except on pages that do not use it', async () => {
    const linkOf = async (path: string) => (await get(`/cabinet/${path}`)).headers.link
    expect(await linkOf('')).toBe('<./api/session>; rel=preload; as=fetch; crossorigin')
    expect(await linkOf('dispatches/48213?company=2')).toBe('<../api/session>; rel=preload; as=fetch; crossorigin')
    for (const path of ['sign-in', 'sign-in?back=%2Fpeople', 'sign-in/', 'accept-invitation'])
      expect([path, await linkOf(path)]).toEqual([path, undefined])
  })

  test.each(['/', '/cabinet'])('%s redirects to it, also below a path of a proxy', async path => {
    const { statusCode, headers } = await get(path)
    expect([statusCode, headers.location]).toEqual([302, 'cabinet/'])
  })
})

describe('files', () => {
  test('with a hash in the name are cached without end, and sent compressed', async () => {
    const plain = await get('/cabinet/assets/main-abc.js')
    expect([plain.body, plain.headers['content-encoding']]).toEqual([script, undefined])
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    })
    const zipped = await get('/cabinet/assets/main-abc.js', { 'accept-encoding': 'br, gzip' })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(zipped.rawPayload).toEqual(gzipSync(script))
    const refused = await get('/cabinet/assets/main-abc.js', { 'accept-encoding': 'gzip;q=0' })
    expect(refused.headers['content-encoding']).toBeUndefined()
  })

  test('without a hash are requested again every time', async () => {
    const { headers } = await get('/cabinet/favicon.svg')
    expect([headers['content-type'], headers['cache-control']]).toEqual(['image/svg+xml', 'no-cache'])
  })

  test('that do not exist, and unknown paths of the API, are 404 and not the index', async () => {
    for (const path of ['assets/gone-def.js', 'api/nothing', 'api', 'api/'])
      expect([path, (await get(`/cabinet/${path}`)).statusCode]).toEqual([path, 404])
  })

  test.each(['..%2f..%2fpackage.json', '%2e%2e/%2e%2e/package.json', 'assets/..%2f..%2fpackage.json', '%00'])(
    'outside the build are not read: %s',
    async path => {
      const { body } = await get(`/cabinet/${path}`)
      expect(body).not.toContain('tidings"')
      expect(body).not.toContain(script)
    },
  )
})

test('a cabinet that was not built names the command to run', async () => {
  const empty = anApp(join(folder, 'nowhere'))
  const { statusCode, body } = await empty.inject('/cabinet/people')
  expect(statusCode).toBe(503)
  expect(body).toContain('npm run build:web')
  await empty.close()
})

/** `e2e/global-setup.ts` builds the cabinet before the tests. */
describe('the build', () => {
  const built = new URL('../../../dist/cabinet/', import.meta.url)
  const MOST_SCRIPT = 300_000
  const MOST_FILES = 20

  test('loads at most 300 kB of script, gzipped, in at most 20 files, for any first page', async () => {
    const manifest: Manifest = JSON.parse(await readFile(new URL('.vite/manifest.json', built), 'utf8'))
    const pages = Object.keys(manifest).filter(name => /-page\.tsx$/.test(name))
    expect(pages.length).toBeGreaterThan(3)
    const first = await chunksOfIndex(manifest)
    for (const page of pages) {
      const loaded = withImports(manifest, [...first, page, 'src/words/ru.ts', ...(await furtherWordsOf(page))])
      const sizes = await Promise.all([...loaded].map(name => gzippedSize(manifest[name]!.file)))
      expect([page, sizes.reduce((sum, size) => sum + size, 0) < MOST_SCRIPT]).toEqual([page, true])
      expect([page, sizes.length <= MOST_FILES]).toEqual([page, true])
    }
  })

  /** The words that the route of a page loads with it. The page may be in a subfolder of its `routes.ts`. */
  async function furtherWordsOf(page: string): Promise<string[]> {
    const [, folder, file] = /^(src\/[\w-]+)\/(.+)$/.exec(page)!
    const routes = await readFile(new URL(`../../../web/${folder}/routes.ts`, import.meta.url), 'utf8')
    const [, wraps = ''] = new RegExp(`((?:withWords\\('\\w+', )*)import\\('./${file}'`).exec(routes)!
    return [...wraps.matchAll(/'(\w+)'/g)].map(([, part]) => `src/words/ru/of-${part}.ts`)
  }

  /** The scripts that the index names: the first one, and the scripts that draw, which the index preloads. */
  async function chunksOfIndex(manifest: Manifest): Promise<string[]> {
    const index = await readFile(new URL('index.html', built), 'utf8')
    const files = [...index.matchAll(/(?:src|href)="\.\/([^"]+\.js)"/g)].map(([, file]) => file!)
    const names = files.map(file => Object.keys(manifest).find(name => manifest[name]!.file === file)!)
    expect(names.length).toBeGreaterThan(1)
    expect(names).not.toContain(undefined)
    return names
  }

  const gzippedSize = async (file: string) => gzipSync(await readFile(new URL(file, built))).length

  /** Chromium uses the compiled code that it keeps only for plain scripts. It compiles modules again at every visit. */
  test('has no modules except workers, so that a browser uses what it has compiled before', async () => {
    const index = await readFile(new URL('index.html', built), 'utf8')
    expect(index).toContain('<script defer blocking="render" src=')
    expect(index).not.toContain('module')
    const scripts = (await readdir(new URL('assets/', built))).filter(name => /(?<!worker-[\w-]{8})\.js$/.test(name))
    expect(scripts.length).toBeGreaterThan(50)
    for (const script of scripts) {
      const code = await readFile(new URL(`assets/${script}`, built), 'utf8')
      expect([script, code.includes(`tidingsScript("${script}",(function(require,exports,load){`)]).toEqual([
        script,
        true,
      ])
      expect([script, /\bimport\.meta\b|[;\n]import\b|[;\n]export\b/.exec(code)]).toEqual([script, null])
    }
  })

  test('has no script or style inside its index, and loads nothing from other hosts', async () => {
    const index = await readFile(new URL('index.html', built), 'utf8')
    expect(index).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|https?:/)
    expect(index.indexOf('<base ')).toBeLessThan(index.indexOf('./assets/'))
  })
})

type Manifest = Record<string, { file: string; imports?: string[] }>

/** Chunks, with the chunks that they import at once. */
function withImports(manifest: Manifest, names: string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    withImports(manifest, manifest[name]!.imports ?? [], found)
  }
  return found
}
