import type { ClientChannel } from '../../../src/base/channel-types.ts'
import type { StepDraft } from '../send/send.ts'
import type { Repeats } from './recipients/reading/candidates.ts'
import type { Columns } from './recipients/reading/columns.ts'
import type { Look, Report } from './recipients/reading/tasks.ts'

export const rateTerms = ['second', 'minute', 'hour', 'day'] as const

export type When = {
  /** As the input of the browser writes it, `2026-11-25T13:00`. Empty means now, and no end. */
  startAt: string
  endAt: string
  hours: number[]
  days: number[]
  useLocalTime: boolean
  rate: number | null
  rateTerm: (typeof rateTerms)[number]
}

/** All choices for the dispatch. The browser's database stores them, so that they survive a reload and a closed tab. */
export type Draft = {
  /** The Idempotency-Keys begin with it. */
  id: string
  companyId: number | undefined
  savedAt: string | undefined
  name: string
  channelType: ClientChannel
  senderName: string
  text: string
  /** The steps of a cascade. The channel, name and text above repeat its first step. */
  cascade: StepDraft[] | undefined
  shortUrl: boolean
  source: { name: string; isPasted: boolean; sizeBytes: number; look: Look } | undefined
  columns: Columns | undefined
  repeats: Repeats
  /** The result of the check, with the choices that it is valid for. */
  checked: { of: string; readBy?: string; report: Report } | undefined
  when: When
  /** Set after the last button: the upload continues until the dispatch is started. */
  sending: { price: string; dispatchId: number | undefined; problem?: string | undefined } | undefined
  /** The dispatch of an earlier attempt, with the choices it was created from. The same choices continue it. */
  made: { dispatchId: number; of: string } | undefined
}

const allHours = Array.from({ length: 24 }, (_, hour) => hour)
export const allDays = [1, 2, 3, 4, 5, 6, 7]

export const newDraft = (companyId: number | undefined): Draft => ({
  id: crypto.randomUUID(),
  companyId,
  savedAt: undefined,
  name: '',
  channelType: 'SMS',
  senderName: '',
  text: '',
  cascade: undefined,
  shortUrl: false,
  source: undefined,
  columns: undefined,
  repeats: 'once',
  checked: undefined,
  when: {
    startAt: '',
    endAt: '',
    hours: allHours,
    days: allDays,
    useLocalTime: true,
    rate: null,
    rateTerm: 'second',
  },
  sending: undefined,
  made: undefined,
})

/** The channel, name and text of the draft repeat the first step of the cascade. */
export const withSteps = (cascade: StepDraft[]): Partial<Draft> => {
  const [first] = cascade
  if (!first) throw new Error('A cascade has at least one step')
  const { channelType, senderName, text } = first
  return { cascade, channelType, senderName, text }
}

/** The file of a draft that has one. */
export function sourceOf({ source }: Draft): NonNullable<Draft['source']> {
  if (!source) throw new Error('The draft has no file')
  return source
}

/** The state of a draft that is being sent. */
export function sendingOf({ sending }: Draft): NonNullable<Draft['sending']> {
  if (!sending) throw new Error('The draft is not being sent')
  return sending
}
