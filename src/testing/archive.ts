import { crc32, inflateRawSync } from 'node:zlib'
import { expect } from 'vitest'

/** The files of a zip archive by its directory. Checks the size and the checksum of each file. */
export function filesIn(zip: Buffer): Map<string, string> {
  const end = zip.length - 22
  const files = new Map<string, string>()
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [crc, packed, size] = [zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 24)]
    const [nameLength, offset] = [zip.readUInt16LE(at + 28), zip.readUInt32LE(at + 42)]
    const name = zip.subarray(at + 46, at + 46 + nameLength).toString()
    const begin = offset + 30 + nameLength
    const content = inflateRawSync(zip.subarray(begin, begin + packed))
    expect([name, content.length, crc32(content)]).toEqual([name, size, crc])
    files.set(name, content.toString())
    at += 46 + nameLength
  }
  expect(at).toBe(end)
  return files
}
