import { useFormats } from '../format.ts'
import { Status } from '../parts/content/status.tsx'
import table from '../parts/lists/table.module.css'
import { useWords } from '../words/words.ts'
import styles from './health.module.css'
import type { Health } from './health.ts'

type Process = NonNullable<Health['processes']>[number]

const MIB = 1024 * 1024

export function Processes({ processes, at }: { processes: Process[]; at: string }) {
  const { say } = useWords()
  return (
    <table className={table.table}>
      <thead>
        <tr>
          <th>{say('health.process')}</th>
          <th>{say('health.state')}</th>
          <th>{say('health.version')}</th>
          <th>{say('health.holds')}</th>
          <th className={table.number}>{say('health.memory')}</th>
          <th className={table.number}>{say('health.delay')}</th>
          <th className={table.number}>{say('health.started')}</th>
          <th className={table.number}>{say('health.seen')}</th>
        </tr>
      </thead>
      <tbody>
        {processes.map(process => (
          <ProcessRow key={process.id} process={process} at={at} />
        ))}
      </tbody>
    </table>
  )
}

function ProcessRow({ process, at }: { process: Process; at: string }) {
  const { say } = useWords()
  const { number, moment, ago } = useFormats()
  const { kind, id, host, pid, version, memoryBytes, loopDelayMs, startedAt, seenAt, problems } = process
  const isGone = problems.includes('gone')
  return (
    <tr>
      <td className={table.title}>
        <span className={table.main}>{say(`health.${kind}`)}</span>
        <span className={table.sub}>{host ? `${host}, ${pid}` : id.slice(0, 8)}</span>
        <Problems process={process} />
      </td>
      <td className={table.corner}>
        {isGone ? (
          <Status kind="fail">{say('health.gone')}</Status>
        ) : (
          <Status kind={problems.length > 0 ? 'warn' : 'ok'}>
            {say(problems.length > 0 ? 'health.level.look' : 'health.atWork')}
          </Status>
        )}
      </td>
      <td data-label={say('health.version')}>{version || '–'}</td>
      <td data-label={say('health.holds')}>
        <Holds process={process} />
      </td>
      <td className={table.number} data-label={say('health.memory')}>
        {memoryBytes === null || isGone ? '–' : number(Math.round(memoryBytes / MIB))}
      </td>
      <td className={table.number} data-label={say('health.delay')}>
        {loopDelayMs === null || isGone ? '–' : number(loopDelayMs)}
      </td>
      <td className={table.number} data-label={say('health.started')}>
        {moment(startedAt)}
      </td>
      <td className={table.number} data-label={say('health.seen')}>
        {isGone ? moment(seenAt) : ago(seenAt, new Date(at))}
      </td>
    </tr>
  )
}

function Problems({ process: { kind, problems, clockOffMs, loopDelayMs } }: { process: Process }) {
  const { say } = useWords()
  const { number } = useFormats()
  const seconds = number(Math.round(Math.abs(clockOffMs) / 1000))
  return problems.map(problem => (
    <span key={problem} className={styles.advice}>
      {problem === 'clock'
        ? say('health.problem.clock', { seconds })
        : problem === 'delay'
          ? say('health.problem.delay', { ms: number(loopDelayMs ?? 0) })
          : say(kind === 'api' ? 'health.problem.goneApi' : 'health.problem.gone')}
    </span>
  ))
}

function Holds({ process: { leases, binds, receivers } }: { process: Process }) {
  const { say } = useWords()
  const held = [
    ...(leases > 0 ? [say('health.holds.leases', { count: leases })] : []),
    ...(binds > 0 ? [say('health.holds.binds', { count: binds })] : []),
    ...(receivers > 0 ? [say('health.holds.receivers', { count: receivers })] : []),
  ]
  return held.length === 0 ? <span className={table.dim}>–</span> : held.join(', ')
}
