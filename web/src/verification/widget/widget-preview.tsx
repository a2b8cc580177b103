import { useEffect, useRef } from 'react'
import type { VerifierSettings, WidgetLook } from '../../../../src/domain/verifiers/verifier.ts'
import { useIsNarrow } from '../../parts/narrow.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import type { RunningPreview } from './preview.ts'

type Props = { settings: VerifierSettings; look: WidgetLook }

/** The widget as visitors see it, in each theme that they can see. A narrow screen shows one theme. */
export function WidgetPreview({ settings, look }: Props) {
  const isNarrow = useIsNarrow()
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
  const preview = useRef<RunningPreview>(undefined)
  const latest = useRef(look)
  latest.current = look
  const { channels, codeLength, lifetimeSeconds, tries, pauseSeconds } = settings
  const codeSettings = JSON.stringify({ channels, codeLength, lifetimeSeconds, tries, pauseSeconds })
  useEffect(() => {
    let isOver = false
    void import('./preview.ts').then(({ startPreview }) => {
      if (isOver || !host.current) return
      preview.current = startPreview(host.current, { theme, language, settings: JSON.parse(codeSettings) })
      preview.current.setLook(latest.current)
    })
    return () => {
      isOver = true
      preview.current?.stop()
      preview.current = undefined
    }
  }, [theme, language, codeSettings])
  useEffect(() => preview.current?.setLook(look), [look])
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
