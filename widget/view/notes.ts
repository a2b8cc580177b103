import type { Word, Words } from '../words.ts'
import type { Icon } from './dom.ts'

/** A screen with a sign, a title and at most one button: the end, a pause or an error. */
export interface Note {
  kind: 'note'
  icon: Icon
  tone?: 'bad' | 'good'
  title: string
  text: string
  /** Shown as it is: an integrator finds it in the documentation. */
  code?: number
  button?: NoteButton
  /** The code of before is still good, and can still be typed. */
  hasBack?: boolean
}

export interface NoteButton {
  word: Word
  act: 'retry' | 'choose' | 'again'
  isSecond?: boolean
  /** Until then the button is disabled and shows a countdown. */
  waitWord?: Word
  until?: number
}

type Tells = Omit<Note, 'kind' | 'title' | 'text' | 'code'>

export const doneNote = (words: Words): Note => ({
  kind: 'note',
  icon: 'check',
  tone: 'good',
  title: words.of('done.title'),
  text: `{number}\n${words.of('done.text')}`,
})

export const offlineNote = (words: Words): Note => ({
  kind: 'note',
  icon: 'offline',
  title: words.of('offline.title'),
  text: words.of('offline.text'),
  button: { word: 'retry', act: 'retry' },
})

/** The code cannot be used any more: its tries or its time are over. */
export function overNote(words: Words, why: 'tries' | 'expired', until: number): Note {
  return {
    kind: 'note',
    ...(why === 'tries' ? { icon: 'alert', tone: 'bad' } : { icon: 'clock' }),
    title: words.of(`${why}.title`),
    text: words.of(`${why}.text`),
    button: { word: 'new', waitWord: 'new.wait', until, act: 'again' },
  }
}

export interface Failure {
  code: number
  /** When the visitor may try again. */
  until: number
  hasOtherWays: boolean
  hasBack: boolean
}

export function errorNote(words: Words, failure: Failure): Note {
  const code = sameAs[failure.code] ?? (words.ofError(failure.code, 'title') ? failure.code : 210)
  return {
    kind: 'note',
    ...tellsOf(code, failure),
    title: words.ofError(code, 'title')!,
    text: (code !== 230 || failure.hasOtherWays ? words.ofError(code, 'text') : undefined) ?? words.of('error.text'),
    code: failure.code,
    hasBack: failure.hasBack,
  }
}

/** Too many requests of one address are refused before the service knows the widget. */
const sameAs: Record<number, number> = { 4290: 130 }

function tellsOf(code: number, { until, hasOtherWays }: Failure): Tells {
  const retry: NoteButton = { word: 'retry', waitWord: 'retry.wait', until, act: 'retry' }
  const second: NoteButton = { ...retry, isSecond: true }
  if (code === 110) return { icon: 'shield', tone: 'bad', button: retry }
  if (code === 130) return { icon: 'clock', tone: 'bad', button: retry }
  if (code === 230 && hasOtherWays) return { icon: 'alert', button: { word: 'ways', act: 'choose' } }
  if (code === 310) return { icon: 'alert' }
  if (code === 340 || code === 341) return { icon: 'shield', button: second }
  if (code === 4000) return { icon: 'phone' }
  return { icon: 'alert', button: second }
}
