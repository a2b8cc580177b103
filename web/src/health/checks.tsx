import { useFormats } from '../format.ts'
import { Status, type StatusKind } from '../parts/content/status.tsx'
import table from '../parts/lists/table.module.css'
import type { Key } from '../words/dictionary.ts'
import { useWords } from '../words/words.ts'
import styles from './health.module.css'
import type { Health } from './health.ts'

type Check = Health['checks'][number]

const kinds: Record<Check['level'], StatusKind> = { ok: 'ok', look: 'warn', bad: 'fail', unknown: 'wait' }

/** The measured values. A bad value comes with advice. */
export function Checks({ checks }: { checks: Check[] }) {
  const { say } = useWords()
  return (
    <ul className={styles.checks}>
      {checks.map(check => (
        <li key={check.name}>
          <span className={styles.state}>
            <Status kind={kinds[check.level]}>{say(`health.level.${check.level}`)}</Status>
          </span>
          <span className={styles.what}>
            <span className={table.main}>{say(`health.check.${check.name}`)}</span>
            <Advice check={check} />
          </span>
          <span className={styles.value}>
            <Value check={check} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function Advice({ check: { name, level, facts } }: { check: Check }) {
  const { say } = useWords()
  if (level === 'ok' || name === 'database') return null
  if (level === 'unknown') return <span className={styles.advice}>{say('health.unknown')}</span>
  const advice =
    name === 'schema' ? say('health.advice.schema', { newest: Number(facts.newest) }) : say(`health.advice.${name}`)
  return <span className={styles.advice}>{advice}</span>
}

/** The values with units in the reader's language. */
function Value({ check: { name, level, facts } }: { check: Check }) {
  const { say } = useWords()
  const duration = useDuration()
  const bytes = useBytes()
  const { number, monthOfYear } = useFormats()
  if (level === 'unknown') return '–'
  const count = (fact: string) => Number(facts[fact] ?? 0)
  switch (name) {
    case 'waiting':
      return count('messages') === 0
        ? say('health.value.waiting.none')
        : say('health.value.waiting', { messages: number(count('messages')), time: duration(count('seconds')) })
    case 'callbacks':
      return say('health.value.callbacks', { count: capped(number, count('count')), paused: number(count('paused')) })
    case 'connections':
      return say('health.value.connections', { used: number(count('used')), most: number(count('most')) })
    case 'transaction':
      return count('seconds') === 0
        ? say('health.value.transaction.none')
        : `${duration(count('seconds'))} ${facts.program ?? ''}`
    case 'months':
      return say('health.value.months', {
        months: number(count('months')),
        newest: facts.newest ? monthOfYear(String(facts.newest).replace('_', '-')) : '–',
      })
    case 'vacuum':
      if (count('isOn') === 0) return say('health.value.vacuum.off')
      return count('dead') === 0
        ? say('health.value.vacuum.none')
        : say('health.value.vacuum', { dead: number(count('dead')), table: String(facts.table) })
    case 'replication':
      return say('health.value.replication', {
        replicas: number(count('replicas')),
        behind: bytes(count('behindBytes')),
      })
    case 'nodes':
      return say('health.value.nodes', {
        count: number(count('count')),
        away: number(count('away')),
        size: bytes(count('sizeBytes')),
      })
    case 'database':
      return `${facts.version}, ${bytes(count('sizeBytes'))}`
    case 'schema':
      return count('version')
    case 'disk':
      return say('health.value.disk', { free: bytes(count('free')), all: bytes(count('all')) })
    default:
      return capped(number, count('count'))
  }
}

/** The server stops counting here. */
const MOST = 10_000
const capped = (number: (value: number) => string, value: number) =>
  value >= MOST ? `≥ ${number(MOST)}` : number(value)

const units: [number, Extract<Key, 'health.days' | 'health.hours' | 'health.minutes'>][] = [
  [86_400, 'health.days'],
  [3600, 'health.hours'],
  [60, 'health.minutes'],
]

function useDuration() {
  const { say } = useWords()
  return (seconds: number) => {
    const [size, unit] = units.find(([size]) => seconds >= size) ?? [1, 'health.seconds' as const]
    return say(unit, { count: Math.floor(seconds / size) })
  }
}

const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

function useBytes() {
  const { number } = useFormats()
  return (bytes: number) => {
    const power = Math.min(sizes.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
    const value = bytes / 1024 ** power
    return `${number(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))}\u00a0${sizes[power]}`
  }
}
