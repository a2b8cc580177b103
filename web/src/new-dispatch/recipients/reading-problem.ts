import { describeRefusal } from '../../problems.ts'
import type { Words } from '../../words/words.ts'
import { ReadingFailed } from './reading/reader.ts'
import type { BadLines } from './reading/tasks.ts'

/** The reason why a file could not be read. */
export function describeReading({ say }: Words, error: unknown): string {
  if (!(error instanceof ReadingFailed)) return say('error.unknown')
  const { problem } = error
  if (problem.kind === 'server') return describeRefusal({ say }, problem)
  if (problem.reason === 'oldExcel') return say('new.file.oldExcel')
  if (problem.reason === 'empty') return say('new.file.isEmpty')
  if (problem.reason === 'tooLarge') return say('new.file.tooLarge')
  return say('new.file.broken', { why: problem.message })
}

const faults = {
  noNumber: 'new.bad.noNumber',
  notNumber: 'new.bad.notNumber',
  shortened: 'new.bad.shortened',
  length: 'new.bad.length',
  country: 'new.bad.country',
} as const

/** The mistake of a line of a file. */
export function describeFault({ say }: Words, fault: BadLines['fault']): string {
  if (fault.startsWith('{')) return say('new.bad.placeholder', { name: fault })
  if (/^\d/.test(fault)) return say(`reason.${fault}` as 'reason.7403')
  return say(faults[fault as keyof typeof faults])
}
