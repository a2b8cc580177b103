import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cleanups } from '../../bench/stage.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { hasPostgres, PostgresCluster } from '../../src/testing/postgres-cluster.ts'
import { signal } from '../../src/testing/signal.ts'
import type { Installation, Installing } from '../installation/installation.ts'
import { type Fault, OF_ALL_ENGINES } from './fault.ts'

const FULL_MS = 20_000
/** Room for the embedded server with its log, and for the load. */
const DISK_MIB = 1500
const PIECE = Buffer.alloc(1024 * 1024)

let cluster: PostgresCluster | undefined

/** Restart, failover and full disk. */
export const databaseFaults: Fault[] = [
  {
    name: 'restart-database',
    about: 'immediate stop of the embedded PostgreSQL, as after a crash: the service starts it again',
    mostTwice: OF_ALL_ENGINES,
    strike: restartDatabase,
  },
  {
    name: 'failover',
    about: 'SIGKILL of the primary, and its synchronous standby is promoted',
    mostTwice: OF_ALL_ENGINES,
    unavailable: () => (hasPostgres ? undefined : "Debian's postgresql is not installed"),
    install: installCluster,
    strike: failOver,
  },
  {
    name: 'full-disk',
    about: `the disk of the embedded PostgreSQL (a tmpfs of ${DISK_MIB} MiB) is full for 20 seconds`,
    mostTwice: OF_ALL_ENGINES,
    unavailable: () => (process.getuid?.() === 0 ? undefined : 'only root can mount a small file system'),
    install: installOnSmallDisk,
    strike: fillDisk,
  },
]

async function restartDatabase(installation: Installation) {
  const before = await installation.postmaster()
  signal(before, 'SIGQUIT')
  await eventually(async () => {
    if ((await installation.postmaster()) === before) throw new Error('PostgreSQL has not started again')
    await installation.sql`select`
  })
}

async function installCluster(cleanups: Cleanups): Promise<Installing> {
  cluster = await PostgresCluster.start()
  cleanups.push(() => cluster!.stop())
  await cluster.a.waitForStandby(cluster.b)
  return { databaseUrl: cluster.url('?target_session_attrs=read-write') }
}

async function failOver({ sql }: Installation) {
  await cluster!.a.kill()
  await cluster!.b.promote()
  await eventually(async () => {
    const [row] = await sql<{ port: number }[]>`select inet_server_port() as port`
    if (row?.port !== cluster!.b.port) throw new Error('the standby is not used')
  })
}

async function installOnSmallDisk(cleanups: Cleanups): Promise<Installing> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-small-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0755`, 'tmpfs', folder])
  cleanups.push(async () => {
    execFileSync('umount', ['--lazy', folder])
    await rm(folder, { recursive: true, force: true })
  })
  return { folder: join(folder, 'data') }
}

/** A file takes all the room that is left, and again the room that PostgreSQL gives back. */
async function fillDisk(installation: Installation) {
  const path = join(installation.folder, '..', 'ballast')
  const ballast = await open(path, 'w')
  const end = performance.now() + FULL_MS
  try {
    while (performance.now() < end) await ballast.write(PIECE).catch(() => pause(100))
  } finally {
    await ballast.close()
    await rm(path)
  }
  if (!installation.log().includes('disk.full')) throw new Error('no write of the database failed')
}
