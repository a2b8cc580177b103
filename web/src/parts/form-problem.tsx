import styles from './form-problem.module.css'
import { Icon } from './icon.tsx'

/** What is wrong with the form as a whole. */
export const FormProblem = ({ children }: { children: string }) => (
  <p role="alert" className={styles.problem}>
    <Icon name="fail" />
    {children}
  </p>
)
