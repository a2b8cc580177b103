import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * PostgreSQL refuses to run as root. When Tidings runs as root, the server runs as a system user. Otherwise the server
 * runs as the same user as Tidings.
 */
export type ServerUser = { uid: number; gid: number }

export const SYSTEM_DIR = '/var/lib/tidings'
const NOBODY: ServerUser = { uid: 65534, gid: 65534 }

/** `.tidings` in the given folder, unless Tidings runs as root and the system user cannot enter that folder. */
export function defaultDataDir(folder: string): string {
  const dataDir = join(resolve(folder), '.tidings')
  if (!isRoot()) return dataDir
  const user = ownerOf(join(dataDir, 'postgres')) ?? findSystemUser() ?? NOBODY
  return canEnter(resolve(folder), user) ? dataDir : join(SYSTEM_DIR, nameAfter(resolve(folder)))
}

/** A readable name that differs for every folder. */
function nameAfter(dir: string) {
  const hash = createHash('sha256').update(dir).digest('hex').slice(0, 8)
  return `${basename(dir).replace(/[^\w.-]/g, '_') || 'root'}-${hash}`
}

/**
 * The user of this cluster's server: the owner of the cluster, else a system user. Undefined unless Tidings runs as
 * root.
 */
export function serverUserOf(clusterDir: string): ServerUser | undefined {
  if (!isRoot()) return
  return ownerOf(clusterDir) ?? findSystemUser() ?? createSystemUser() ?? findUser('nobody') ?? NOBODY
}

export function isRoot() {
  return process.getuid?.() === 0
}

function ownerOf(dir: string): ServerUser | undefined {
  const stats = statSync(dir, { throwIfNoEntry: false })
  if (stats && stats.uid !== 0) return { uid: stats.uid, gid: stats.gid }
}

function findSystemUser() {
  return findUser('tidings') ?? findUser('postgres')
}

function findUser(name: string): ServerUser | undefined {
  const line = readPasswd().find(line => line.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  // macOS writes the id of the unprivileged user as -2.
  if (uid && gid) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
}

function readPasswd() {
  try {
    return readFileSync('/etc/passwd', 'utf8').split('\n')
  } catch {
    return []
  }
}

function createSystemUser(): ServerUser | undefined {
  const attempts: [string, string[]][] = [
    [
      'useradd',
      [
        '--system',
        '--user-group',
        '--no-create-home',
        '--home-dir',
        '/nonexistent',
        '--shell',
        '/usr/sbin/nologin',
        'tidings',
      ],
    ],
    ['adduser', ['-S', '-D', '-H', 'tidings']], // busybox
  ]
  for (const [command, args] of attempts) {
    try {
      execFileSync(command, args, { stdio: 'ignore', timeout: 10_000 })
    } catch {
      // The command is missing or not allowed, or another process creates the user: the list of users decides.
    }
    const user = findUser('tidings')
    if (user) return user
  }
}

/** Tries to enter the folder, because the mode alone does not show access lists and mounts. */
export function canEnter(dir: string, user: ServerUser) {
  const tried = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', nearestFolder(dir)], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
  })
  // Without a shell the check is impossible. A program that cannot run there reports its own error.
  return tried.status === 0 || tried.error !== undefined
}

function nearestFolder(dir: string): string {
  return statSync(dir, { throwIfNoEntry: false }) || dirname(dir) === dir ? dir : nearestFolder(dirname(dir))
}
