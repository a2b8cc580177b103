import { Icon } from '../content/icon.tsx'
import styles from './form-problem.module.css'

/** What is wrong with the form as a whole. */
export const FormProblem = ({ children }: { children: string }) => (
  <p role="alert" className={styles.problem}>
    <Icon name="fail" />
    {children}
  </p>
)
