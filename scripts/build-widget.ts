/**
 * Builds the widget's script, style sheet and types into `dist/widget/`.
 *
 *   node scripts/build-widget.ts                 fails without the bundler
 *   node scripts/build-widget.ts --if-possible   for `npm ci --omit=dev`: says what to do, and ends well
 */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const source = new URL('../widget/', import.meta.url)
const defaultTarget = new URL('../dist/widget/', import.meta.url)

export async function buildWidget(target = defaultTarget) {
  await mkdir(target, { recursive: true })
  await buildScript(target)
  await writeFile(
    new URL('VerifyWidget.css', target),
    withoutSpace(await readFile(new URL('widget.css', source), 'utf8')),
  )
  await copyFile(new URL('widget.d.ts', source), new URL('VerifyWidget.d.ts', target))
}

/** One classic script for browsers of the last four years. */
async function buildScript(target: URL) {
  const { build } = await import('rolldown')
  await build({
    input: fileURLToPath(new URL('mount.ts', source)),
    platform: 'browser',
    transform: { target: ['chrome108', 'firefox107', 'safari16'] },
    output: { file: fileURLToPath(new URL('VerifyWidget.umd.min.js', target)), format: 'iife', minify: true },
    logLevel: 'warn',
  })
}

/** Enough for our own style sheet, which has no strings with spaces or comments in them but names of fonts. */
const withoutSpace = (css: string) =>
  css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/\s*([{};,])\s*/g, '$1')
    .replace(/: /g, ':')
    .replace(/;}/g, '}')
    .trim()

async function main(isOptional: boolean) {
  try {
    await buildWidget()
  } catch (error) {
    if (!isOptional || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    console.warn('The widget is not built: its bundler is a development dependency. Run `npm ci`, or copy dist/widget.')
  }
}

if (import.meta.main) await main(process.argv.includes('--if-possible'))
