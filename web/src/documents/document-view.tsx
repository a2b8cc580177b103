import { useWords } from '../words/words.ts'
import styles from './documents.module.css'
import { addressOf, type CompanyDocument } from './documents.ts'

/** A document as the browser shows it: a PDF in its own viewer, or a picture. */
export function DocumentView({ companyId, document }: { companyId: number; document: CompanyDocument }) {
  const { say } = useWords()
  const { filename, kind } = document
  const address = addressOf(companyId, document)
  if (kind === 'pdf') return <iframe className={styles.pdf} src={address} title={filename} />
  return <img className={styles.picture} src={address} alt={say('documents.picture', { name: filename })} />
}
