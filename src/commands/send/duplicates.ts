import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Rows of a file whose number an earlier row has as well. */
export type Duplicates = { count: number; has(row: number): boolean }

export type DuplicateFinder = {
  /** Takes the number of a row; rows come in their order. */
  add(row: number, digits: string): void
  /** The rows that repeat a number. Ends the finder. */
  find(): Duplicates
  close(): void
}

const PARTS = 64
const BUFFERED = 2048
const ENTRY_BYTES = 16

/**
 * Finds repeated numbers in a file of any size. Numbers are kept in temporary files, split by their digits, and each
 * part is looked at by itself; what stays in memory is one bit for each row. The files have no name any more as soon as
 * they are open, so that a killed process leaves nothing of them behind.
 */
export function createDuplicateFinder(): DuplicateFinder {
  const files = openNamelessFiles()
  const buffers = files.map(() => new Float64Array(BUFFERED * 2))
  const filled = files.map(() => 0)
  let rows = 0
  let isOpen = true

  function flush(part: number) {
    writeSync(files[part]!, new Uint8Array(buffers[part]!.buffer, 0, filled[part]! * ENTRY_BYTES))
    filled[part] = 0
  }

  function close() {
    if (isOpen) for (const file of files) closeSync(file)
    isOpen = false
  }

  return {
    add(row, digits) {
      const number = Number(digits) // at most 15 digits: exact
      const part = number % PARTS
      buffers[part]!.set([number, row], filled[part]! * 2)
      filled[part]! += 1
      rows = row + 1
      if (filled[part] === BUFFERED) flush(part)
    },
    find() {
      const bits = new Uint8Array(Math.ceil(rows / 8))
      let count = 0
      for (const [part, file] of files.entries()) {
        flush(part)
        for (const row of repeatedIn(entriesOf(file))) {
          bits[row >> 3]! |= 1 << (row & 7)
          count += 1
        }
      }
      close()
      return { count, has: row => ((bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0 }
    },
    close,
  }
}

function openNamelessFiles(): number[] {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-numbers-'))
  try {
    return Array.from({ length: PARTS }, (_, part) => openSync(join(folder, String(part)), 'wx+', 0o600))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function entriesOf(file: number): Float64Array {
  const entries = new Float64Array(fstatSync(file).size / 8)
  const bytes = new Uint8Array(entries.buffer)
  for (let at = 0; at < bytes.length; ) at += readSync(file, bytes, at, bytes.length - at, at)
  return entries
}

function* repeatedIn(entries: Float64Array): Generator<number> {
  const seen = new Set<number>()
  for (let at = 0; at < entries.length; at += 2) {
    if (seen.has(entries[at]!)) yield entries[at + 1]!
    else seen.add(entries[at]!)
  }
}
