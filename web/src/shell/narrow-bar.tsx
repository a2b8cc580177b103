import { Drawer } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import { Fragment, useState } from 'react'
import type { NavigationGroup } from '../navigation.ts'
import { Icon } from '../parts/content/icon.tsx'
import { useWords } from '../words/words.ts'
import styles from './narrow-bar.module.css'
import { PageLinks } from './page-links.tsx'

/** A row of 390 pixels has room for five items that a thumb can hit. */
const MOST_IN_BAR = 5

/** The navigation of a narrow screen: the first pages in a bar at the bottom, the others in a sheet. */
export function NarrowBar({ groups }: { groups: NavigationGroup[] }) {
  const { say } = useWords()
  const [isOpen, setIsOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const pages = groups.flatMap(group => group.pages)
  const hasMore = pages.length > MOST_IN_BAR
  const shown = hasMore ? pages.slice(0, MOST_IN_BAR - 1) : pages
  const rest = groups
    .map(group => ({ ...group, pages: group.pages.filter(page => !shown.includes(page)) }))
    .filter(group => group.pages.length > 0)
  const isInSheet = rest.some(group => group.pages.some(({ to }) => path.startsWith(to)))
  return (
    <nav className={styles.bar} aria-label={say('app.pages')}>
      <PageLinks pages={shown} iconSize={20}>
        {hasMore && (
          <li>
            <button
              type="button"
              aria-haspopup="dialog"
              aria-current={isInSheet || undefined}
              onClick={() => setIsOpen(true)}
            >
              <Icon name="dots" size={20} />
              <span>{say('app.more')}</span>
            </button>
          </li>
        )}
      </PageLinks>
      <Drawer
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        position="bottom"
        size="auto"
        title={say('nav.morePages')}
        closeButtonProps={{ 'aria-label': say('app.close') }}
        classNames={styles}
      >
        {rest.map(({ heading, pages }) => (
          <Fragment key={heading ?? ''}>
            {heading && <h2>{say(heading)}</h2>}
            <PageLinks pages={pages} iconSize={20} onFollow={() => setIsOpen(false)} />
          </Fragment>
        ))}
      </Drawer>
    </nav>
  )
}
