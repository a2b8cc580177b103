import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Figure } from '../figures.ts'
import type { Entry } from './plan.ts'

const PROGRAM = fileURLToPath(new URL('../main.ts', import.meta.url))
const PATIENCE_MS = 30 * 60_000
/** A bench that was told to end stops its services and deletes its folders. */
const CLEAN_UP_MS = 60_000
const KEPT_CHARACTERS = 4000

export type Outcome = { figures: Figure[]; failed?: string }

/** Runs one bench in a process of its own: its memory and its garbage do not reach the next one. */
export async function measureEntry(entry: Entry, signal: AbortSignal, program = PROGRAM): Promise<Outcome> {
  const child = spawn(process.execPath, [...process.execArgv, program, entry.bench, '--json', ...entry.args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = collect(child.stdout, Number.POSITIVE_INFINITY)
  const complaints = collect(child.stderr, KEPT_CHARACTERS)
  const ended = once(child, 'close')
  const timeUp = AbortSignal.timeout(PATIENCE_MS)
  const stopping = stopChild(AbortSignal.any([signal, timeUp]), name => child.kill(name))
  await ended
  stopping.clear()
  if (timeUp.aborted) return { figures: [], failed: `it did not end within ${PATIENCE_MS / 60_000} minutes` }
  return outcomeOf(printed.text(), complaints.text())
}

function collect(stream: NodeJS.ReadableStream, most: number) {
  let kept = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    kept = (kept + text).slice(-most)
  })
  return { text: () => kept }
}

function stopChild(signal: AbortSignal, kill: (name: NodeJS.Signals) => void) {
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    kill('SIGTERM')
    timer = setTimeout(() => kill('SIGKILL'), CLEAN_UP_MS)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return {
    clear() {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    },
  }
}

/** A missed promise ends with code 1 as an error does, so only the printed text tells whether there are figures. */
export function outcomeOf(printed: string, complaints: string): Outcome {
  try {
    const { figures, failed } = JSON.parse(printed) as { figures?: Figure[]; failed?: string }
    if (figures && figures.length > 0) return { figures }
    return { figures: [], failed: failed ?? 'it gave no figures' }
  } catch {
    return { figures: [], failed: lastLineOf(complaints) ?? 'it ended without a result' }
  }
}

const lastLineOf = (text: string): string | undefined =>
  text
    .split('\n')
    .map(line => line.trim())
    .findLast(line => line !== '')
