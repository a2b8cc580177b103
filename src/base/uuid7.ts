import { randomBytes, randomInt } from 'node:crypto'

/**
 * UUIDv7 keys: 48 bits of time, then a counter, then chance. A batch shares one moment; its counter starts at random
 * in the lower half of 26 bits and rises, so that the keys of one request stand in the order submitted, and two
 * processes writing in the same millisecond do not meet (48 random bits behind the counter).
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

/** When a key was made, to the millisecond. */
export const timeOfUuid7 = (uuid: string): Date => new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16))

const COUNTER_HALF = 2 ** 25
const HEX3 = Array.from({ length: 0x1000 }, (_, i) => i.toString(16).padStart(3, '0'))
const HEX4 = Array.from({ length: 0x10000 }, (_, i) => i.toString(16).padStart(4, '0'))

function timePrefix(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
