import { useWords } from '../words/words.ts'
import styles from './documents.module.css'
import { addressOf, type CompanyDocument } from './documents.ts'

/** The browser displays a PDF in its own viewer, and an image as it is. */
export function DocumentView({ companyId, document }: { companyId: number; document: CompanyDocument }) {
  const { say } = useWords()
  const { filename, kind } = document
  const address = addressOf(companyId, document)
  if (kind === 'pdf') return <iframe className={styles.pdf} src={address} title={filename} />
  return <img className={styles.picture} src={address} alt={say('documents.picture', { name: filename })} />
}
