import { readdir, readFile } from 'node:fs/promises'

/** The kernel counts processor time in these units; the same on every Linux that Node.js runs on. */
const TICKS_PER_SECOND = 100

type Stat = { pid: number; parent: number; seconds: number }

/**
 * Seconds of processor time of a process and its descendants. The time of descendants that have ended is included, because
 * their parent has it in its own counters.
 */
export async function secondsOfTree(root: number, except: number[] = []): Promise<number> {
  const stats = await readStats()
  return treeOf(root, stats, except).reduce((sum, { seconds }) => sum + seconds, 0)
}

/** Memory of processes in bytes. Memory that processes share is counted once. */
export async function memoryOf(pids: number[]): Promise<number> {
  const sizes = await Promise.all(pids.map(proportionalBytes))
  return sizes.reduce((sum, size) => sum + size, 0)
}

export async function pidsOfTree(root: number): Promise<number[]> {
  return treeOf(root, await readStats(), []).map(({ pid }) => pid)
}

function treeOf(root: number, stats: Stat[], except: number[]): Stat[] {
  const found = stats.filter(({ pid }) => pid === root)
  const children = stats.filter(({ pid, parent }) => parent === root && !except.includes(pid))
  return [...found, ...children.flatMap(({ pid }) => treeOf(pid, stats, except))]
}

async function readStats(): Promise<Stat[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map(readStat))
  return stats.filter(stat => stat !== undefined)
}

/** Fields 14 to 17: user and system time of the process, and of its children that ended. The second field may contain spaces. */
async function readStat(name: string): Promise<Stat | undefined> {
  const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => undefined) // it has ended meanwhile
  if (stat === undefined) return undefined
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [parent = 0] = fields.slice(1)
  const ticks = fields.slice(11, 15).reduce((sum, count) => sum + count, 0)
  return { pid: Number(name), parent, seconds: ticks / TICKS_PER_SECOND }
}

async function proportionalBytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss: +(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024
}
