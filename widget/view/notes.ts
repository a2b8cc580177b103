import type { Word, Words } from '../words.ts'
import type { Icon } from './dom.ts'

/** A screen with an icon, a title and at most one button: the end, a pause or an error. */
export interface Note {
  kind: 'note'
  icon: Icon
  tone?: 'bad' | 'good'
  title: string
  text: string
  /** The number of the error, shown so that the site's developer finds it in the documentation. */
  code?: number
  button?: NoteButton
  /** The visitor can go back and type the code that was sent before. It is still valid. */
  hasBack?: boolean
}

export interface NoteButton {
  word: Word
  act: 'retry' | 'choose' | 'again'
  isSecond?: boolean
  /** The button is disabled and shows a countdown until this moment, in milliseconds since 1970. */
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

/** The code is no longer valid: it expired, or the visitor has used all tries. */
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
  /** When the visitor may try again, in milliseconds since 1970. */
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

/** 4290: the service refuses too many requests of one address before it knows the widget. */
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
