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
        <Button renderRoot={props => <Link {...props} to={to} search={before} />} leftSection={<Icon name="back" />}>
          {say('companies.before')}
        </Button>
      )}
      {hasAfter && (
        <Button renderRoot={props => <Link {...props} to={to} search={after} />} rightSection={<Icon name="right" />}>
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
      <Button renderRoot={props => <Link {...props} to={to} search={{}} />}>{say('companies.nothing.reset')}</Button>
    </Blank>
  )
}
