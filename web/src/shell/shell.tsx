import { useMantineColorScheme } from '@mantine/core'
import { Link, Outlet, useSearch } from '@tanstack/react-router'
import { Fragment, useEffect } from 'react'
import { colorSchemeManager } from '../look/theme.ts'
import { groupsOf } from '../navigation.ts'
import { PaletteButton } from '../palette/palette-button.tsx'
import { Icon } from '../parts/content/icon.tsx'
import { Mark } from '../parts/content/mark.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { AccountMenu } from './account-menu.tsx'
import { CompanySwitcher } from './company-switcher.tsx'
import { NarrowBar } from './narrow-bar.tsx'
import { OfflineNotice } from './offline-notice.tsx'
import { PageLinks } from './page-links.tsx'
import styles from './shell.module.css'
import { ThemeButton } from './theme-button.tsx'

/** The frame of every page: a header, and navigation at the side or, at 390 pixels, in a bar at the bottom. */
export function Shell() {
  const { say } = useWords()
  const me = useMe()
  const groups = groupsOf(me, useSearch({ from: '/shell' }).company)
  const isNarrow = useIsNarrow()
  useThemeOf(me.theme)
  return (
    <div className={styles.app}>
      <button type="button" className={styles.skip} onClick={focusMain}>
        {say('app.skip')}
      </button>
      <nav className={styles.side} aria-label={say('app.pages')}>
        <Link to="/" className={styles.brand} aria-label={say('app.name')}>
          <Mark />
          <span>{say('app.name')}</span>
        </Link>
        {groups.map(({ heading, pages }) => (
          <Fragment key={heading ?? ''}>
            {heading && <h2>{say(heading)}</h2>}
            <PageLinks pages={pages} />
          </Fragment>
        ))}
        {!isNarrow && <AccountMenu isWide />}
      </nav>
      <header className={styles.top}>
        <Link to="/" className={styles.topMark} aria-label={say('app.name')}>
          <Mark />
        </Link>
        <CompanySwitcher />
        <PaletteButton />
        <div className={styles.topEnd}>
          <ThemeButton />
          <a className={styles.iconButton} href="../docs" aria-label={say('app.docs')} title={say('app.docs')}>
            <Icon name="book" size={18} />
          </a>
          {isNarrow && <AccountMenu />}
        </div>
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <OfflineNotice />
        <Outlet />
      </main>
      {isNarrow && <NarrowBar groups={groups} />}
    </div>
  )
}

/** Applies the theme of the person, which is stored on the server. */
function useThemeOf(theme: 'auto' | 'light' | 'dark') {
  const { setColorScheme } = useMantineColorScheme()
  useEffect(() => {
    // Sets it only if it changed, because the browser recomputes all styles of the page.
    if (theme !== colorSchemeManager.get('auto')) setColorScheme(theme)
  }, [theme, setColorScheme])
}

const focusMain = () => document.getElementById('main')?.focus()
