import { throughEngine } from '../../bench/engine.ts'
import { ageBy } from '../../bench/engine-history.ts'
import { REQUEST_SIZE } from '../../bench/recipients.ts'
import type { Axis, Side } from './sides.ts'

const SIZES = [0, 1_000_000, 10_000_000, 30_000_000]

/** Old messages of the company that sends, in the twelve months before. `ageBy` copies the dispatch that was sent first. */
export const history = (largest: number): Axis => ({
  name: 'history',
  about: 'older messages in the table',
  sides: SIZES.filter(size => size <= largest).map(sideOf),
})

const sideOf = (size: number): Side => ({
  label: size.toLocaleString('en'),
  async prepare(stage, connection) {
    await throughEngine(stage, connection, REQUEST_SIZE)
    if (size > 0) await ageBy(stage, size)
  },
})
