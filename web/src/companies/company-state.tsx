import { Status } from '../parts/content/status.tsx'
import { useWords } from '../words/words.ts'
import styles from './companies.module.css'
import type { Shown } from './companies.ts'

/** "Disabled", or the problems that need attention in a few words. */
export function CompanyNeeds({ company }: { company: Pick<Shown, 'status' | 'attention'> }) {
  const { say } = useWords()
  if (company.status === 'DISABLED') return <DisabledState />
  const [first, ...more] = company.attention
  if (!first) return <Status kind="ok">{say('companies.attention.none')}</Status>
  return (
    <span className={styles.needs}>
      <Status kind={isUsedUp(first) ? 'fail' : 'warn'}>{say(`companies.attention.${kindOf(first)}`)}</Status>
      {more.length > 0 && (
        <span className={styles.more}>{say('companies.attention.more', { count: more.length })}</span>
      )}
    </span>
  )
}

export function DisabledState({ isPill = false }: { isPill?: boolean }) {
  const { say } = useWords()
  return (
    <Status kind="wait" icon="slash" isPill={isPill}>
      {say('companies.status.DISABLED')}
    </Status>
  )
}

type Line = Shown['attention'][number]

const isUsedUp = (line: Line) =>
  (line.kind === 'budget' && line.usedShare >= 1) || (line.kind === 'balance' && line.left <= 0)

const kinds = ['budget', 'balance', 'receiver', 'refused', 'failures'] as const

/** Problems of other kinds belong to no company. */
function kindOf(line: Line) {
  const { kind } = line
  if (kind === 'budget' && line.usedShare >= 1) return 'budgetUsed'
  return kinds.find(known => known === kind) ?? 'other'
}
