import styles from './code-block.module.css'

/** Code or a protocol text, unchanged. The block scrolls on its own, and the keyboard can reach it. */
export const CodeBlock = ({ label, children }: { label: string; children: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
  <section className={styles.code} tabIndex={0} aria-label={label}>
    <pre>{children}</pre>
  </section>
)
