import styles from './code-block.module.css'

/** Text of a program or a protocol as it is. It scrolls in itself, and can be reached by the keyboard. */
export const CodeBlock = ({ label, children }: { label: string; children: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
  <section className={styles.code} tabIndex={0} aria-label={label}>
    <pre>{children}</pre>
  </section>
)
