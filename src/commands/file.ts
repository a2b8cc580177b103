import { existsSync } from 'node:fs'
import { link, open, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { UsageError } from '../base/errors.ts'

/** Opens the file before any other step. Errors in its content name the file. */
export async function withFile<T>(path: string, work: (source: Readable) => Promise<T>): Promise<T> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      error.code === 'ENOENT' ? `There is no file "${path}".` : `"${path}" cannot be read: ${error.code}.`,
    )
  })
  try {
    if ((await handle.stat()).isDirectory()) throw new UsageError(`"${path}" is a folder: a file is needed.`)
    return await work(handle.createReadStream({ autoClose: false }))
  } catch (error) {
    throw error instanceof UsageError && /^(line |Tariff |The file |The heading )/.test(error.message)
      ? new UsageError(`${basename(path)}: ${error.message}`)
      : error
  } finally {
    await handle.close()
  }
}

/**
 * Writes pieces into a draft beside the file, which takes its name when it is complete: no half of a file looks like
 * one. Nothing is written over.
 */
export async function writeNewFile<T>(
  path: string,
  work: (write: (pieces: AsyncIterable<string>) => Promise<void>) => Promise<T>,
): Promise<T> {
  if (existsSync(path)) throw new UsageError(`"${path}" is there already: name another file.`)
  const draft = `${path}.part`
  await writeFile(draft, '').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(refusalToWrite(path, error))
  })
  try {
    return await work(async pieces => {
      await writeFile(draft, pieces)
      await link(draft, path)
    })
  } finally {
    await rm(draft, { force: true })
  }
}

/** Why a new file could not be written. */
export function refusalToWrite(path: string, { code }: NodeJS.ErrnoException): string {
  if (code === 'EEXIST') return `There is a file "${path}" already: --to FILE names another.`
  if (code === 'ENOENT') return `There is no folder for "${path}".`
  return `"${path}" cannot be written: ${code}.`
}
