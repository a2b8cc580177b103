import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Figure, inTurn } from './figures.ts'
import { secret } from './secret.ts'
import { onStage } from './stage.ts'

export const name = 'command-start'
export const about = 'CPU time to start a command, beside a bare `node -e 0`'

const ROUNDS = 3
const STARTS = 8
const TARGET_MS = 400
const tidings = fileURLToPath(new URL('../bin/tidings', import.meta.url))
const execute = promisify(execFile)

export function run(): Promise<Figure[]> {
  return onStage(async ({ url }) => [
    ...(await besideBareNode('tidings --help', [tidings, '--help'], url)),
    ...(await besideBareNode('tidings company list', [tidings, 'company', 'list'], url)),
  ])
}

async function besideBareNode(what: string, command: string[], url: string): Promise<Figure[]> {
  const env = { ...process.env, DATABASE_URL: url, TIDINGS_SECRET: secret }
  const { ours, floor, ratio } = await inTurn(
    ROUNDS,
    () => cpuMsOf(command, env),
    () => cpuMsOf([process.execPath, '-e', '0'], env),
  )
  return [
    { what, value: ours, unit: 'ms of CPU', target: { most: TARGET_MS } },
    { what: 'node -e 0', value: floor, unit: 'ms of CPU' },
    { what: `${what}, to node -e 0`, value: ratio, unit: '' },
  ]
}

/**
 * Node.js tells the CPU time of its own process only; a shell tells that of its children, to a hundredth of a second,
 * so one figure is the mean of several starts.
 */
async function cpuMsOf(command: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const script = `for start in $(seq ${STARTS}); do "$@" >/dev/null || exit 1; done; times`
  const { stdout } = await execute('/bin/sh', ['-c', script, 'sh', ...command], { env })
  const [, ofChildren = ''] = stdout.trim().split('\n')
  const times = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)]
  const allMs = times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000, 0)
  return allMs / STARTS
}
