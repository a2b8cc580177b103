import { Button, SegmentedControl } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useState } from 'react'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { PageLink } from '../../parts/pages/page-link.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'

type Kind = 'page' | 'builder'
type Props = { snippets: Record<Kind, string>; isBuilder: boolean }

/** The code to paste into a page with a server of its own, or into a page of a site builder. */
export function Snippet({ snippets, isBuilder }: Props) {
  const { say } = useWords()
  const clipboard = useClipboard()
  const [kind, setKind] = useState<Kind>(isBuilder ? 'builder' : 'page')
  const notes = { page: say('verification.snippet.page.note'), builder: say('verification.snippet.builder.note') }
  return (
    <Section
      title={say('verification.snippet')}
      end={
        <SegmentedControl<Kind>
          size="xs"
          aria-label={say('verification.snippet.kind')}
          value={kind}
          onChange={setKind}
          data={[
            { value: 'page', label: say('verification.snippet.page') },
            { value: 'builder', label: say('verification.snippet.builder') },
          ]}
        />
      }
    >
      <p className={`note ${styles.above}`}>
        {notes[kind]} {kind === 'page' && <PageLink to="/developers">{say('verification.snippet.keys')}</PageLink>}
      </p>
      {kind === 'builder' && !isBuilder && (
        <p className={styles.warning}>
          <Icon name="warn" />
          {say('verification.snippet.notBuilder')}
        </p>
      )}
      {kind === 'page' && isBuilder && (
        <p className={`note ${styles.above}`}>{say('verification.snippet.isBuilder')}</p>
      )}
      <div className={styles.codeBox}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled with the keyboard */}
        <section tabIndex={0} aria-label={say('verification.snippet')}>
          <pre>{snippets[kind]}</pre>
        </section>
        <Button
          className={styles.copy}
          leftSection={<Icon name={clipboard.copied ? 'check' : 'copy'} />}
          onClick={() => clipboard.copy(snippets[kind])}
        >
          {clipboard.copied ? say('app.copied') : say('app.copy')}
        </Button>
      </div>
    </Section>
  )
}
