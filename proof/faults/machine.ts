import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Fault } from './fault.ts'

const HOGS = 20
const SECONDS = 30

export const machineFaults: Fault[] = [
  {
    name: 'busy-machine',
    about: `${HOGS} other programs want all processor time for ${SECONDS} seconds`,
    mostTwice: 0,
    unavailable: () => (spawnSync('stress-ng', ['--version']).error ? 'stress-ng is not installed' : undefined),
    strike: hog,
  },
]

async function hog() {
  const child = spawn('stress-ng', ['--quiet', '--cpu', String(HOGS), '--timeout', `${SECONDS}s`], { stdio: 'ignore' })
  const stop = () => void child.kill('SIGTERM')
  process.once('exit', stop)
  await once(child, 'exit')
  process.off('exit', stop)
}
