import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import { dataDirOf } from '../../db/database.ts'

/** What a browser keeps of its session: the page, and the secret that it shows to the service alone. */
export type KeptSession = { secret: string; origin: string }

const FOLDER = 'simulated-browsers'
const KEEP_MS = 24 * 3600_000

/** In a file that its owner alone can read; files of sessions that are long over are removed. */
export async function keepSession(config: Config, key: string, session: KeptSession): Promise<void> {
  const folder = folderOf(config)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await removeOld(folder)
    await writeFile(fileOf(config, key), JSON.stringify(session), { mode: 0o600 })
  } catch (error) {
    throw new UsageError(
      `The secret of the session cannot be kept in ${folder} (${(error as NodeJS.ErrnoException).code}): TIDINGS_DATA names another data folder.`,
    )
  }
}

export async function keptSession(config: Config, key: string): Promise<KeptSession> {
  const text = await readFile(fileOf(config, key), 'utf8').catch(() => undefined)
  if (text !== undefined) return JSON.parse(text)
  throw new UsageError(
    `${folderOf(config)} has no session with this key: \`tidings simulator widget --widget ID --destination NUMBER\` begins one.`,
  )
}

const folderOf = (config: Config) => join(dataDirOf(config), FOLDER)

/** A key may be anything that was typed; its hash is a safe name. */
const fileOf = (config: Config, key: string) =>
  join(folderOf(config), `${createHash('sha256').update(key).digest('hex')}.json`)

async function removeOld(folder: string) {
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const { mtimeMs } = await stat(file)
    if (mtimeMs < Date.now() - KEEP_MS) await rm(file, { force: true })
  }
}
