/**
 * Builds the cabinet's web application into `dist/cabinet/`, with compressed copies of its files.
 *
 *   node scripts/build-cabinet.ts                 fails without the bundler
 *   node scripts/build-cabinet.ts --if-possible   for `npm ci --omit=dev`: says what to do, and ends well
 */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'web')
const target = join(root, 'dist', 'cabinet')

export async function buildCabinet() {
  const { build } = await import('vite')
  await inProduction(() => build({ configFile: join(source, 'vite.config.ts'), root: source, logLevel: 'warn' }))
  await compress(target)
}

/** Tests set another environment, in which React would bring what helps its developers. */
async function inProduction(work: () => Promise<unknown>) {
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}

/** Whether a source is newer than the build. */
export async function isCabinetOld(): Promise<boolean> {
  const built = await stat(join(target, 'index.html')).catch(() => undefined)
  if (!built) return true
  const sources = (await filesIn(source)).filter(file => !file.endsWith('.test.ts'))
  const changed = await Promise.all([...sources, join(root, 'package-lock.json')].map(async file => stat(file)))
  return changed.some(({ mtimeMs }) => mtimeMs > built.mtimeMs)
}

/** Below this a copy saves nothing: it fits into one packet as it is. */
const LEAST_BYTES = 1024

/** The server sends these copies: compressing so well at every request would take too long. Fonts are compressed. */
async function compress(folder: string) {
  const files = (await filesIn(folder)).filter(file => /\.(js|css|svg)$/.test(file))
  await Promise.all(
    files.map(async file => {
      const content = await readFile(file)
      if (content.length < LEAST_BYTES) return
      await writeFile(`${file}.br`, await promisify(brotliCompress)(content))
      await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
    }),
  )
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

async function main(isOptional: boolean) {
  try {
    await buildCabinet()
  } catch (error) {
    if (!isOptional || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    console.warn(
      'The cabinet is not built: its bundler is a development dependency. Run `npm ci`, or copy dist/cabinet.',
    )
  }
}

if (import.meta.main) await main(process.argv.includes('--if-possible'))
