import { allChannelTypes, type ChannelType } from '../base/channel-types.ts'
import { UsageError } from '../base/errors.ts'
import { type Money, money } from '../base/money.ts'
import { normaliseNumber } from '../base/phone/phone-number.ts'
import { readTimestamp } from '../base/time/timestamp.ts'
import type { Call } from './command.ts'
import { idOption, readId, textOption } from './command-line.ts'

/** Options that several commands read in the same way; a wrong one is told in one sentence. */

export const optionalId = (call: Call, name: string): number | undefined =>
  call.options[name] === undefined ? undefined : idOption(call, name)

export const idsOption = (call: Call, name: string): number[] | undefined =>
  call.options[name]?.split(',').map(text => readId(text.trim(), name))

/** One of some words, in whichever case; undefined when it is not given. */
export function choiceOption<T extends string>(call: Call, name: string, choices: readonly T[]): T | undefined {
  const text = call.options[name]
  if (text === undefined) return undefined
  const chosen = choices.find(choice => choice.toLowerCase() === text.toLowerCase())
  if (!chosen) throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not "${text}".`)
  return chosen
}

export const channelOption = (call: Call): ChannelType | undefined => choiceOption(call, 'channel', allChannelTypes)

const MOST_LISTED = 10_000

/** How many entries a list shows. */
export function limitOption(call: Call): number {
  const limit = idOption(call, 'limit')
  if (limit > MOST_LISTED) throw new UsageError(`--limit must be at most ${MOST_LISTED}, not "${call.options.limit}".`)
  return limit
}

/** A moment: a day in UTC, or a time with its zone. */
export function timeOption(call: Call, name: string): Date | undefined {
  const text = call.options[name]
  if (text === undefined) return undefined
  const time = readTimestamp(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text)?.time
  if (!time) throw new UsageError(`--${name} must be a day or a time such as 2026-05-17T09:00:00Z, not "${text}".`)
  return time
}

/** A phone number as it is kept: digits, the country code first. */
export function readNumber(text: string, what: string): string {
  const digits = normaliseNumber(text)
  if (digits === undefined) throw new UsageError(`${what} must be a phone number, not "${text}".`)
  return digits
}

const MOST = money('100000000000000') // what the database has room for

/** An amount above zero with at most four places. It is never rounded. */
export function amountOption(call: Call, name: string): Money {
  const text = textOption(call, name)
  const amount = /^\d{1,15}(\.\d{1,4})?$/.test(text) ? money(text) : 0n
  if (amount <= 0n || amount >= MOST) {
    throw new UsageError(`--${name} must be an amount above zero such as 1500.50, not "${text}".`)
  }
  return amount
}

export const MOST_PARTS_PER_SECOND = 1_000_000

/** Parts a second, or `none` for no limit; undefined when it is not given. */
export function rateOption(call: Call): number | null | undefined {
  const text = call.options.rate
  if (text === undefined) return undefined
  if (text.toLowerCase() === 'none') return null
  const rate = Number(text)
  if (!/^\d+$/.test(text) || rate < 1 || rate > MOST_PARTS_PER_SECOND) {
    throw new UsageError(`--rate must be from 1 to ${MOST_PARTS_PER_SECOND} parts a second, or none, not "${text}".`)
  }
  return rate
}
