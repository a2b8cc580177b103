import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { compilePattern, fillPlaces, fitPattern, placesIn, plainText } from '../../../src/domain/templates/pattern.ts'
import { Section } from '../parts/content/section.tsx'
import { Status } from '../parts/content/status.tsx'
import { useWords } from '../words/words.ts'
import styles from './pattern.module.css'

/** An example of a matching text, and a field to test one. The rules are the same as on the server. */
export function PatternTrial({ pattern }: { pattern: string }) {
  const { say } = useWords()
  const [text, setText] = useState('')
  const fit = text.trim() === '' ? undefined : fits(pattern, text)
  return (
    <Section title={say('templates.fit.title')}>
      <div className={styles.trial}>
        {pattern.trim() !== '' && (
          <div>
            <p className="note">{say('templates.fit.example')}</p>
            <p className={styles.bubble}>{exampleOf(pattern)}</p>
          </div>
        )}
        <Textarea
          label={say('templates.fit.try')}
          description={say('templates.fit.note')}
          inputWrapperOrder={['label', 'input', 'description']}
          autosize
          minRows={2}
          maxRows={8}
          maxLength={2000}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <div aria-live="polite">
          {fit !== undefined && (
            <Status kind={fit ? 'ok' : 'fail'}>{say(fit ? 'templates.fit.yes' : 'templates.fit.no')}</Status>
          )}
        </div>
      </div>
    </Section>
  )
}

const WORDS = ['Anna', 'Ромашка', 'BF-7Q2M', 'Москва', 'Vera']
const NUMBERS = ['4812', '1499.90', '25', '700']

/** Fills every place with an invented value. */
export const exampleOf = (pattern: string) => fillPlaces(pattern, placesIn(pattern).map(sampleOf))

function sampleOf(place: string, i: number): string {
  const most = Number(/\{1,(\d+)\}/.exec(place)?.[1] ?? 1)
  if (place.startsWith('%w')) {
    return Array.from({ length: Math.min(most, 2) }, (_, word) => WORDS[(i + word) % WORDS.length]).join(' ')
  }
  if (!place.includes('{')) return NUMBERS[i % NUMBERS.length]!
  return '481290'.padEnd(most, '7').slice(0, most)
}

function fits(pattern: string, text: string): boolean {
  try {
    return fitPattern(compilePattern(pattern), plainText(text)) !== undefined
  } catch {
    return false
  }
}

/** Whether the server accepts the text as a pattern. */
export function isPattern(pattern: string): boolean {
  try {
    compilePattern(pattern)
    return true
  } catch {
    return false
  }
}
