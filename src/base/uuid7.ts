import { randomBytes, randomInt } from 'node:crypto'

/**
 * UUIDv7 keys: 48 bits of time, then a counter, then random bits. A batch shares one moment. Its counter starts at a
 * random number in the lower half of 26 bits and rises, so that the keys of one request have the order of the request.
 * 48 random bits behind the counter distinguish the keys of two processes in the same millisecond.
 */
export function uuid7Batch(time: Date, count: number): string[] {
  if (count > COUNTER_HALF) throw new RangeError(`a batch holds at most ${COUNTER_HALF} keys`)
  const prefix = timePrefix(time)
  const chance = randomBytes(6 * count).toString('hex')
  const first = randomInt(COUNTER_HALF)
  const keys = new Array<string>(count)
  for (let i = 0; i < count; i++) {
    const counter = first + i
    const high = HEX3[counter >>> 14]
    const low = HEX4[0x8000 | (counter & 0x3fff)]
    keys[i] = `${prefix}-7${high}-${low}-${chance.slice(i * 12, i * 12 + 12)}`
  }
  return keys
}

export const uuid7 = (time: Date): string => uuid7Batch(time, 1)[0]!

/** The time of a key, in milliseconds. */
export const timeOfUuid7 = (uuid: string): Date => new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16))

const COUNTER_HALF = 2 ** 25
const HEX3 = Array.from({ length: 0x1000 }, (_, i) => i.toString(16).padStart(3, '0'))
const HEX4 = Array.from({ length: 0x10000 }, (_, i) => i.toString(16).padStart(4, '0'))

function timePrefix(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

/** The smallest and the largest of some uuids. Statements use them to read only the months of these messages. */
export function uuidRange(uuids: readonly string[]): { first: string; last: string } {
  const sorted = uuids.toSorted()
  const first = sorted[0]
  const last = sorted.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('A range needs at least one uuid')
  return { first, last }
}
