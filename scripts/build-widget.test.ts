import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
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
  expect(css).toContain('--accent:var(--tidings-accent,#1d56ad)')
  expect(css).toContain('"Segoe UI",Roboto,"Helvetica Neue"')
  expect(css).toContain('calc(var(--radius) - 4px)')
  expect(css).not.toContain('/*')
})

test('the script runs as a classic script, and asks no other host', async () => {
  const script = await built('VerifyWidget.umd.min.js')
  expect(script).not.toMatch(/^\s*(import|export)\b/m)
  expect(script.match(/https?:\/\/[^"'`]+/g)).toEqual(['http://www.w3.org/2000/svg', 'http://www.w3.org/2000/svg'])
})
