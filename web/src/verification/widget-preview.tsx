import { useMediaQuery } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import type { VerifierSettings, WidgetLook } from '../../../src/domain/verifiers/verifier.ts'
import { useWords } from '../words/words.ts'
import type { PlayingWidget } from './playing-widget.ts'
import styles from './verification.module.css'

type Props = { settings: VerifierSettings; look: WidgetLook }

/** The widget as visitors see it, in each theme that they can see. A narrow screen shows one theme. */
export function WidgetPreview({ settings, look }: Props) {
  const isNarrow = useMediaQuery('(max-width: 760px)', undefined, { getInitialValueInEffect: false })
  const themes = look.theme === 'auto' ? (['light', 'dark'] as const) : [look.theme]
  return (
    <div className={styles.stage}>
      {(isNarrow ? themes.slice(0, 1) : themes).map(theme => (
        <InTheme key={theme} theme={theme} settings={settings} look={look} />
      ))}
    </div>
  )
}

/** Restarts when a setting of the verification changes. A change of the look does not restart it. */
function InTheme({ theme, settings, look }: Props & { theme: 'light' | 'dark' }) {
  const { say, language } = useWords()
  const host = useRef<HTMLElement>(null)
  const playing = useRef<PlayingWidget>(undefined)
  const latest = useRef(look)
  latest.current = look
  const { channels, codeLength, lifetimeSeconds, tries, pauseSeconds } = settings
  const course = JSON.stringify({ channels, codeLength, lifetimeSeconds, tries, pauseSeconds })
  useEffect(() => {
    let isOver = false
    void import('./playing-widget.ts').then(({ playWidget }) => {
      if (isOver) return
      playing.current = playWidget(host.current!, { theme, language, settings: JSON.parse(course) })
      playing.current.setLook(latest.current)
    })
    return () => {
      isOver = true
      playing.current?.stop()
      playing.current = undefined
    }
  }, [theme, language, course])
  useEffect(() => playing.current?.setLook(look), [look])
  return (
    <div className={styles.theme} data-theme={theme}>
      <section
        ref={host}
        className={styles.host}
        aria-label={theme === 'light' ? say('verification.look.light') : say('verification.look.dark')}
      />
    </div>
  )
}
