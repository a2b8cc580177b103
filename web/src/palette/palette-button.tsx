import { useHotkeys } from '@mantine/hooks'
import { lazy, Suspense, useState } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { useWords } from '../words/words.ts'
import styles from './palette.module.css'

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })))

/** Opens the palette. Ctrl K does the same on every page. */
export function PaletteButton() {
  const { say } = useWords()
  const [isOpen, setIsOpen] = useState(false)
  useHotkeys([['mod+K', () => setIsOpen(true)]], [])
  return (
    <>
      <button
        type="button"
        className={styles.find}
        aria-label={`${say('palette.find')} Ctrl K`}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="search" />
        <span>{say('palette.find')}</span>
        <kbd>Ctrl K</kbd>
      </button>
      {isOpen && (
        <Suspense>
          <Palette onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
