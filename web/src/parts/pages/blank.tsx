import type { ReactNode } from 'react'
import styles from './blank.module.css'
import { usePageTitle } from './page-head.tsx'

const drawings = {
  /** Nothing yet: a flying swallow. */
  bird: 'M4 14c14-3 24 1 32 12 8-11 18-15 32-12-13 3-21 10-24 21l4 17-12-8-12 8 4-17C25 24 17 17 4 14zM8 40h8M4 47h14M58 40h6',
  /** An error: a line that breaks off. */
  broken: 'M6 28h14l6-16 10 32 7-22 3 6h20M52 12l8 8M60 12l-8 8',
  /** A page that does not exist or is not allowed. */
  lost: 'M14 8h30l12 12v28H14zM44 8v12h12M28 27c0-4 3-6 7-6s7 2 7 6c0 5-7 5-7 10M35 43h.01',
}

type Props = {
  drawing: keyof typeof drawings
  title: string
  text?: string
  children?: ReactNode
  /** 1 if it replaces a whole page. The browser tab then gets the title too. */
  level?: 1 | 2
}

/** Replaces missing content: nothing yet, an error, or no such page. */
export function Blank({ drawing, title, text, children, level = 2 }: Props) {
  usePageTitle(level === 1 ? title : undefined)
  const Heading = level === 1 ? 'h1' : 'h2'
  return (
    <div className={styles.blank}>
      <svg
        viewBox="0 0 72 56"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        <path d={drawings[drawing]} />
      </svg>
      <Heading className={styles.title}>{title}</Heading>
      {text && <p>{text}</p>}
      {children}
    </div>
  )
}
