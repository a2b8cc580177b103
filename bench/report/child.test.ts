import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import { measureEntry } from './child.ts'

const entry = { key: 'engine', bench: 'engine', about: '', args: ['--rounds', '1'], seconds: 1, isLong: false }
const figure = { what: 'ratio', value: 0.1, unit: '', target: { least: 1 } }
const never = new AbortController().signal

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidings-child-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function aProgram(text: string): Promise<string> {
  const file = join(folder, 'program.mjs')
  await writeFile(file, text)
  return file
}

test('a bench that misses its target ends with code 1 and has figures', async () => {
  const program = await aProgram(`
    console.error('a warning')
    console.log(JSON.stringify({ args: process.argv.slice(2), figures: [${JSON.stringify(figure)}] }))
    process.exitCode = 1`)
  expect(await measureEntry(entry, never, program)).toEqual({ figures: [figure] })
})

test('a bench gets its name, --json and its arguments', async () => {
  const program = await aProgram(`console.log(JSON.stringify({ failed: process.argv.slice(2).join(' ') }))`)
  expect(await measureEntry(entry, never, program)).toEqual({ figures: [], failed: 'engine --json --rounds 1' })
})

test('a bench that crashes has its last words as the reason', async () => {
  const program = await aProgram(`console.error('disk is full'); process.kill(process.pid, 'SIGKILL')`)
  expect(await measureEntry(entry, never, program)).toEqual({ figures: [], failed: 'disk is full' })
})

test('a run that is broken off tells its bench to end, and waits until it has cleaned up', async () => {
  const [started, cleaned] = [join(folder, 'started'), join(folder, 'cleaned')]
  const program = await aProgram(`
    import { writeFileSync } from 'node:fs'
    process.on('SIGTERM', () => setTimeout(() => {
      writeFileSync(${JSON.stringify(cleaned)}, 'yes')
      process.exit(130)
    }, 50))
    setInterval(() => {}, 1000)
    writeFileSync(${JSON.stringify(started)}, 'yes')`)
  const leaving = new AbortController()
  const measuring = measureEntry(entry, leaving.signal, program)
  await eventually(async () => expect(await readFile(started, 'utf8')).toBe('yes'))
  leaving.abort()
  await measuring
  expect(await readFile(cleaned, 'utf8')).toBe('yes')
})
