import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'
import { Blank } from '../pages/blank.tsx'
import styles from './cursor-pages.module.css'

type To = '/companies' | '/partners'
type Props = {
  to: To
  search: object
  /** The ids of the shown rows. */
  ids: number[]
  hasBefore: boolean
  hasAfter: boolean
}

/** Links to the previous and the next rows. The filters of the list stay. */
export function CursorPages({ to, search, ids, hasBefore, hasAfter }: Props) {
  const { say } = useWords()
  if (!hasBefore && !hasAfter) return null
  const before = { ...search, after: undefined, before: ids[0] }
  const after = { ...search, before: undefined, after: ids.at(-1) }
  return (
    <nav className={styles.pages} aria-label={say('app.pages')}>
      {hasBefore && (
        <Button component={Link} to={to} search={before as never} leftSection={<Icon name="back" />}>
          {say('companies.before')}
        </Button>
      )}
      {hasAfter && (
        <Button component={Link} to={to} search={after as never} rightSection={<Icon name="right" />}>
          {say('companies.after')}
        </Button>
      )}
    </nav>
  )
}

/** Says that no row matches the filters. */
export function NoRowFits({ to, title }: { to: To; title: string }) {
  const { say } = useWords()
  return (
    <Blank drawing="lost" title={title} text={say('companies.nothing.text')}>
      <Button component={Link} to={to} search={{} as never}>
        {say('companies.nothing.reset')}
      </Button>
    </Blank>
  )
}
