import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '../db/sql.ts'

/** The program that makes clusters on this machine. `scripts/test-citus.sh` describes it. */
export const citusProgram = process.env.TIDINGS_CITUS

export type CitusCluster = {
  /** The coordinator, with the database `tidings`. */
  url: string
  /** Ends a node without warning. Node 0 is the coordinator. */
  kill(node: number): Promise<void>
  revive(node: number): Promise<void>
  /** One more worker. No shard is moved to it. Returns its port. */
  add(): Promise<number>
  portOf(node: number): Promise<number>
  stop(): Promise<void>
}

const run = promisify(execFile)

/** A coordinator and this many workers, with databases without tables. */
export async function startCitusCluster(workers: number): Promise<CitusCluster> {
  const parent = await mkdtemp(join(tmpdir(), 'tidings-citus-'))
  await chmod(parent, 0o755) // the servers run as another user
  const folder = join(parent, 'cluster')
  const ask = (verb: string, ...rest: unknown[]) => run(citusProgram!, [verb, folder, ...rest.map(String)])
  const portOf = async (node: number) => Number(await readFile(join(folder, `${node}.port`), 'utf8'))

  let last = workers
  await ask('start', workers)
  return {
    url: `postgres://postgres@127.0.0.1:${await portOf(0)}/tidings`,
    portOf,
    kill: async node => void (await ask('kill', node)),
    revive: async node => void (await ask('revive', node)),
    add: async () => {
      await ask('add')
      last += 1
      return portOf(last)
    },
    stop: async () => {
      await ask('stop')
      await rm(parent, { recursive: true, force: true })
    },
  }
}

/** A database of the coordinator that Citus does not know. */
export async function makePlainDatabase({ url }: Pick<CitusCluster, 'url'>, name: string): Promise<string> {
  const admin = connect(url, { max: 1 })
  await admin`create database ${admin(name)}`
  await admin.end()
  const plain = new URL(url)
  plain.pathname = `/${name}`
  return plain.href
}
