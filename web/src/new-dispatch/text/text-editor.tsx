import { Button, Switch } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import { Icon } from '../../parts/content/icon.tsx'
import { useWords } from '../../words/words.ts'
import type { Draft } from '../draft.ts'
import styles from '../new-dispatch.module.css'
import { samplesOf } from '../offer.ts'
import type { DraftUse } from '../use-draft.ts'
import { type Dear, dearSigns, measure, mostIn, rendered } from './message-text.ts'

type Props = { draft: Draft; change: DraftUse['change'] }

const usualNames = { en: ['name', 'code', 'city'], ru: ['имя', 'код', 'город'] }
const OPEN = /\{([\p{L}_][\p{L}\p{M}\p{Nd}_]*)?$/u
const MOST_BARS = 10

/** The text field. It offers placeholders after `{` and counts the parts. */
export function TextEditor({ draft, change }: Props) {
  const { say } = useWords()
  const listId = useId()
  const { area, offered, chosen, look, insert, begin, close, onKeyDown } = usePlaceholders({ draft, change })
  return (
    <>
      <div className={styles.editor}>
        <div className={styles.paper}>
          <div className={styles.marks} aria-hidden="true">
            {marksOf(draft.text, dearIn(draft)?.signs ?? [])}
          </div>
          <textarea
            ref={area}
            className={styles.area}
            aria-label={say('new.text.label')}
            aria-controls={chosen ? listId : undefined}
            aria-activedescendant={chosen ? `${listId}-${chosen}` : undefined}
            value={draft.text}
            maxLength={10_000}
            onChange={({ currentTarget }) => {
              change({ text: currentTarget.value })
              look()
            }}
            onClick={look}
            onBlur={() => setTimeout(close, 150)}
            onKeyDown={onKeyDown}
          />
        </div>
        {chosen && <Offered id={listId} names={offered} chosen={chosen} draft={draft} onChoose={insert} />}
        <Tools draft={draft} change={change} onPlaceholder={begin} />
      </div>
      <Counter draft={draft} />
      <DearBand draft={draft} change={change} />
    </>
  )
}

/** The placeholders that match the text between `{` and the cursor. */
function usePlaceholders({ draft, change }: Props) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [typed, setTyped] = useState<string>()
  const [marked, setMarked] = useState(0)
  const names = useNames(draft)
  const offered = typed === undefined ? [] : names.filter(name => name.startsWith(typed.toLowerCase()))
  const chosen = offered[Math.min(marked, offered.length - 1)]
  const caretNow = () => area.current?.selectionStart ?? draft.text.length
  const close = () => setTyped(undefined)

  const look = () => {
    setTyped(OPEN.exec((area.current?.value ?? '').slice(0, caretNow()))?.[0].slice(1))
    setMarked(0)
  }
  const replace = (text: string, caret: number) => {
    change({ text })
    close()
    requestAnimationFrame(() => {
      area.current?.focus()
      area.current?.setSelectionRange(caret, caret)
    })
  }
  const insert = (name: string) => {
    const caret = caretNow()
    const start = caret - (typed?.length ?? 0) - 1
    replace(`${draft.text.slice(0, start)}{${name}}${draft.text.slice(caret)}`, start + name.length + 2)
  }
  const begin = () => {
    const caret = caretNow()
    replace(`${draft.text.slice(0, caret)}{${draft.text.slice(caret)}`, caret + 1)
    requestAnimationFrame(() => setTyped(''))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!chosen) return
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move) setMarked((marked + move + offered.length) % offered.length)
    else if (event.key === 'Enter' || event.key === 'Tab') insert(chosen)
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
  }
  return { area, offered, chosen, look, insert, begin, close, onKeyDown }
}

type OfferedProps = { id: string; names: string[]; chosen: string; draft: Draft; onChoose(name: string): void }

function Offered({ id, names, chosen, draft, onChoose }: OfferedProps) {
  const { say } = useWords()
  return (
    <div className={styles.offer}>
      <div id={id} role="listbox" aria-label={say('new.text.placeholders')}>
        {names.map(name => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the text field choose it
          <div
            key={name}
            id={`${id}-${name}`}
            role="option"
            aria-selected={name === chosen}
            onMouseDown={event => event.preventDefault()}
            onClick={() => onChoose(name)}
          >
            <b>{`{${name}}`}</b>
            <span>{samplesOf(draft)[name]}</span>
          </div>
        ))}
      </div>
      <p>{say('new.text.ownPlaceholder')}</p>
    </div>
  )
}

function Tools({ draft, change, onPlaceholder }: Props & { onPlaceholder(): void }) {
  const { say } = useWords()
  return (
    <div className={styles.tools}>
      <Button variant="subtle" color="gray" onClick={onPlaceholder}>
        {'{ } '}
        {say('new.text.placeholder')}
      </Button>
      <Switch
        size="xs"
        label={say('new.text.shortUrl')}
        checked={draft.shortUrl}
        onChange={({ currentTarget }) => change({ shortUrl: currentTarget.checked })}
      />
    </div>
  )
}

/** Columns of the file first, then frequent placeholders. */
function useNames(draft: Draft): string[] {
  const { language } = useWords()
  const ofFile = (draft.source?.look.columns ?? []).map(({ name }) =>
    name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_'),
  )
  const usable = ofFile.filter((name, at) => /^[\p{L}_]/u.test(name) && at !== draft.columns?.number)
  return [...new Set([...usable, ...usualNames[language]])]
}

/** A text in Cyrillic letters has none, because replacements would not reduce its parts. */
const dearIn = (draft: Draft): Dear | undefined =>
  draft.channelType === 'SMS' ? dearSigns(draft.text, samplesOf(draft)) : undefined

/** The layer behind the text, which highlights placeholders and expensive characters. */
function marksOf(text: string, dear: string[]): ReactNode[] {
  const pieces = text.split(/(\{[\p{L}_][\p{L}\p{M}\p{Nd}_]*\})/u)
  return pieces.flatMap((piece, at) => {
    if (at % 2 === 1) return [<mark key={at}>{piece}</mark>]
    return [...piece].map((char, i) =>
      dear.includes(char) ? (
        <mark key={`${at}-${i}`} className={styles.dear}>
          {char}
        </mark>
      ) : (
        char
      ),
    )
  })
}

function Counter({ draft }: { draft: Draft }) {
  const { say } = useWords()
  const text = rendered(draft.text, samplesOf(draft))
  if (draft.channelType !== 'SMS') {
    return (
      <div className={styles.counter}>
        <p>{say('new.text.used', { used: text.length, room: mostIn(draft.channelType) })}</p>
      </div>
    )
  }
  const { parts, alphabet, used, room } = measure(text)
  const share = (part: number) => Math.max(0, Math.min(1, (used / room) * parts - part)) * 100
  return (
    <div className={styles.counter}>
      <div className={styles.bars} aria-hidden="true">
        {Array.from({ length: Math.min(parts, MOST_BARS) }, (_, part) => (
          <svg key={part} width="48" height="6" aria-hidden="true" data-several={parts > 1}>
            <rect width="48" height="6" rx="3" />
            <rect width={(48 * share(part)) / 100} height="6" rx="3" className={styles.filled} />
          </svg>
        ))}
      </div>
      <p aria-live="polite">
        <b>{say('new.text.parts', { count: parts })}</b>,{' '}
        {say(alphabet === 'gsm7' ? 'new.text.gsm' : 'new.text.unicode')}, {say('new.text.used', { used, room })}
        {text !== draft.text && <span> {say('new.text.withSamples')}</span>}
      </p>
    </div>
  )
}

function DearBand({ draft, change }: Props) {
  const { say } = useWords()
  const dear = dearIn(draft)
  if (!dear) return null
  return (
    <div className={styles.band} role="status">
      <Icon name="warn" />
      <p>
        <b>{say('new.text.dear', { signs: dear.signs.join(' ') })}</b>{' '}
        {say('new.text.dear.text', { count: dear.parts })}
      </p>
      <Button onClick={() => change({ text: dear.text })}>
        {say('new.text.dear.use', { sign: `“${dear.replacement}”` })}
      </Button>
    </div>
  )
}
