import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inventRecipients } from '../recipients.ts'
import { installMissing } from './kannel.ts'
import type { System } from './system.ts'

const SCRIPT = fileURLToPath(new URL('requests.lua', import.meta.url))
const NUMBERS = 20_000

/** What the load tool saw: accepted requests, the time of its run, and percentiles of the answers in milliseconds. */
export type Load = { accepted: number; errors: number; seconds: number; p50: number; p99: number }

/** Sends messages one by one over open connections, for a while. `wrk` needs a fraction of the processor time of a client in Node.js. */
export async function load(system: System, connections: number, seconds: number): Promise<Load> {
  installMissing('wrk', 'wrk')
  const folder = await mkdtemp(join(tmpdir(), 'tidings-wrk-'))
  try {
    const numbers = join(folder, 'numbers')
    await writeFile(
      numbers,
      `${inventRecipients(NUMBERS)
        .map(({ destination }) => destination)
        .join('\n')}\n`,
    )
    const { method, path, headers, body = '' } = system.request
    const tool = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT]
    const script = [numbers, method, path, body, ...Object.entries(headers).flat()]
    const url = `http://127.0.0.1:${system.port()}`
    const { stdout } = await promisify(execFile)('wrk', [...tool, url, '--', ...script])
    const result = resultIn(stdout)
    if (result.errors > 0) throw new Error(`${system.name} refused ${result.errors} requests`)
    return result
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function resultIn(output: string): Load {
  const result = /^RESULT (.*)$/m.exec(output)?.[1]
  if (result === undefined) throw new Error(`wrk printed no result:\n${output}`)
  return JSON.parse(result)
}
