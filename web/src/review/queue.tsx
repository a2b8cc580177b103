import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useFigures } from '../dispatches/figures.ts'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { PatternText } from '../templates/pattern-text.tsx'
import { useWords } from '../words/words.ts'
import styles from './review.module.css'
import { type Item, isSame, type Open, searchOf } from './review.ts'

type Props = { items: Item[]; waiting: number; open: Open; onHelp(): void }

/** The requests that wait for review, the oldest first. */
export function Queue({ items, waiting, open, onHelp }: Props) {
  const { say } = useWords()
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [open.kind, open.id])
  return (
    <nav className={styles.queue} aria-label={say('review.queue')}>
      <div className={styles.queueHead}>
        <h2>{say('review.title')}</h2>
        <span className="note">{say('review.waiting', { count: waiting })}</span>
        <span className={`${styles.keys} only-wide`}>
          <kbd>J</kbd> <kbd>K</kbd>{' '}
          <button type="button" className={styles.help} aria-label={say('review.keys.help')} onClick={onHelp}>
            <kbd>?</kbd>
          </button>
        </span>
      </div>
      <ul ref={list}>
        {items.map(item => (
          <li key={`${item.kind} ${item.id}`}>
            <QueueLink item={item} isOpen={isSame(item, open)} />
          </li>
        ))}
      </ul>
    </nav>
  )
}

function QueueLink({ item, isOpen }: { item: Item; isOpen: boolean }) {
  const { say } = useWords()
  const { span } = useFigures()
  const { channel, operator } = useTrafficNames()
  const minutes = Math.max(1, Math.floor((Date.now() - new Date(item.waitingSince).getTime()) / 60_000))
  const where =
    item.kind === 'template' ? say('review.template') : item.brand ? operator(item.brand) : channel(item.channelType)
  return (
    <Link
      to="/review"
      search={searchOf(item)}
      activeProps={{}}
      aria-current={isOpen ? 'true' : undefined}
      className={styles.item}
    >
      <b>{item.kind === 'template' ? <PatternText pattern={item.title} /> : item.title}</b>
      <span>{span(60 * minutes)}</span>
      <span>{item.companyName}</span>
      <span>{where}</span>
    </Link>
  )
}
