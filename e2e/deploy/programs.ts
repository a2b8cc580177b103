import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Programs of Debian that are only in the search path of an administrator. */
const env = { ...process.env, PATH: [process.env.PATH, '/usr/sbin', '/sbin'].join(delimiter) }

/** Whether a program of Debian is there. Tests that need it are skipped without it. */
export const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`], { env }).status === 0

/** Runs a program to its end. */
export function outcomeOf(program: string, words: string[], more: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(program, words, { env: { ...env, ...more }, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** Starts a server. It ends when the test process ends, even by SIGKILL. */
export function startServer(program: string, words: string[], more: NodeJS.ProcessEnv = {}): ChildProcess {
  const linux = process.platform === 'linux' && has('setpriv')
  const [command, ...all] = linux ? ['setpriv', '--pdeathsig', 'TERM', program, ...words] : [program, ...words]
  return spawn(command!, all, { env: { ...env, ...more }, stdio: 'ignore' })
}

export async function endServer(server: ChildProcess, signal: NodeJS.Signals = 'SIGTERM') {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill(signal)
  await ended
}
