import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import type { ReactNode } from 'react'
import { languages } from '../languages.ts'
import { Mark } from '../parts/content/mark.tsx'
import { chooseLanguage, languageNames, useWords } from '../words/words.ts'
import styles from './entrance.module.css'
import { Story } from './story.tsx'

/** The frame of the pages before sign-in: a form at the left, an illustration of Tidings at the right. */
export function Entrance({ children }: { children: ReactNode }) {
  const { say } = useWords()
  return (
    <div className={styles.entrance}>
      <main className={styles.left}>
        <div className={styles.brand}>
          <Mark />
          <span>{say('app.name')}</span>
        </div>
        <div className={styles.content}>{children}</div>
        <Choices />
      </main>
      <Story />
    </div>
  )
}

/** Language and theme of this device. */
function Choices() {
  const { language, say } = useWords()
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  return (
    <div className={styles.choices}>
      {languages.map(one => (
        <button key={one} type="button" lang={one} aria-pressed={one === language} onClick={() => chooseLanguage(one)}>
          {languageNames[one]}
        </button>
      ))}
      <button type="button" onClick={() => setColorScheme(isDark ? 'light' : 'dark')}>
        {say(isDark ? 'theme.light' : 'theme.dark')}
      </button>
    </div>
  )
}
