import { useWords } from '../../words/words.ts'
import { useMoneyFormats } from '../amounts.ts'
import styles from '../money.module.css'
import { statementFile } from '../money.ts'

/** Links to the statement of a month as files, in the language of the reader. */
export function FileLinks({ companyId, month }: { companyId: number; month: string }) {
  const { say, language } = useWords()
  const { monthAndYear } = useMoneyFormats()
  return (
    <span className={styles.files}>
      {(['pdf', 'csv'] as const).map(format => (
        <a
          key={format}
          className="link"
          href={statementFile(companyId, month, format, language)}
          download
          aria-label={say('money.statement.file', { format: format.toUpperCase(), month: monthAndYear(month) })}
        >
          {format.toUpperCase()}
        </a>
      ))}
    </span>
  )
}
