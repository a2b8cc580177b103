import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildWidget } from './build-widget.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidings-widget-'))
  await buildWidget(pathToFileURL(`${folder}/`))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const built = (name: string) => readFile(join(folder, name), 'utf8')

test('script and style sheet have less than 25 kB together, gzipped', async () => {
  const sizes = await Promise.all(
    ['VerifyWidget.umd.min.js', 'VerifyWidget.css'].map(async name => gzipSync(await built(name)).length),
  )
  expect(sizes[0]! + sizes[1]!).toBeLessThan(25_000)
})

test('the style sheet keeps its rules, tokens and names of fonts', async () => {
  const css = await built('VerifyWidget.css')
  expect(css).toContain(':host{display:block !important}')
  expect(css).toContain('--accent:var(--tidings-accent,var(--look-accent,#1d56ad))')
  expect(css).toContain('"Segoe UI",Roboto,"Helvetica Neue"')
  expect(css).toContain('calc(var(--radius) - 4px)')
  expect(css).not.toContain('/*')
})

test('the script runs as a classic script, and asks no other host', async () => {
  const script = await built('VerifyWidget.umd.min.js')
  expect(script).not.toMatch(/^\s*(import|export)\b/m)
  expect(script.match(/https?:\/\/[^"'`]+/g)).toEqual(['http://www.w3.org/2000/svg', 'http://www.w3.org/2000/svg'])
})

/** What the compiler says of a page that uses the types, beside them and alone. */
async function mistakesIn(page: string): Promise<string> {
  await writeFile(join(folder, 'page.ts'), page)
  const options = ['--noEmit', '--strict', '--lib', 'ES2022,DOM', '--types', '', '--ignoreConfig']
  const compiler = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url))
  const { stdout } = spawnSync(compiler, [...options, 'page.ts', 'VerifyWidget.d.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  return stdout
}

test('the types take the calls that the widget takes, and refuse others', async () => {
  const options = `{ destination: '79160000001', widgetId: 'abc123def456'`
  const right = `VerifyWidget.mount('#a', ${options}, captchaSiteKey: 'key', lang: 'ru', theme: 'dark' },
      key => fetch('/send', { method: 'POST', body: key }), (key: string, result?: string) => console.log(key, result))
    VerifyWidget.mount('#b', ${options} })
    window.VerifyWidget.unmount('#a')`
  expect(await mistakesIn(right)).toBe('')
  const wrong = [`${options}, lang: 'fr' }`, `{ widgetId: 'abc123def456' }`, `${options} }, '/send-code'`]
  const mistakes = await mistakesIn(wrong.map(given => `VerifyWidget.mount('#a', ${given})`).join('\n'))
  expect(mistakes.match(/page\.ts\(\d+/g)).toEqual(['page.ts(1', 'page.ts(2', 'page.ts(3'])
})
