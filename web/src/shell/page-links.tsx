import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { NavigationPage } from '../navigation.ts'
import { Icon } from '../parts/content/icon.tsx'
import { useWords } from '../words/words.ts'
import { WaitingCount } from './waiting-count.tsx'

type Props = { pages: NavigationPage[]; iconSize?: number; onFollow?(): void; children?: ReactNode }

/** Links to pages, and further items of the list. */
export function PageLinks({ pages, iconSize = 16, onFollow, children }: Props) {
  const { say } = useWords()
  return (
    <ul>
      {pages.map(({ to, label, icon }) => (
        <li key={to}>
          <Link to={to} title={say(label)} onClick={onFollow}>
            <Icon name={icon} size={iconSize} />
            <span>{say(label)}</span>
            {to === '/review' && <WaitingCount />}
          </Link>
        </li>
      ))}
      {children}
    </ul>
  )
}
