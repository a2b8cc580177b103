import { Icon } from '../content/icon.tsx'
import styles from './form-problem.module.css'

/** An error of the whole form. */
export const FormProblem = ({ children }: { children: string }) => (
  <p role="alert" className={styles.problem}>
    <Icon name="fail" />
    {children}
  </p>
)
