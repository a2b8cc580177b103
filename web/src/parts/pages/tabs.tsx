import { Link } from '@tanstack/react-router'
import styles from './tabs.module.css'

type Tab = { to: string; name: string; count?: number | undefined }

/** Tabs for pages that belong together. The open page has a line below its name. */
export const Tabs = ({ label, tabs }: { label: string; tabs: Tab[] }) => (
  <nav className={styles.tabs} aria-label={label}>
    {tabs.map(({ to, name, count }) => (
      <Link key={to} to={to} className={styles.tab} activeOptions={{ exact: true, includeSearch: false }}>
        {name}
        {count !== undefined && count > 0 && <span className={styles.count}>{count}</span>}
      </Link>
    ))}
  </nav>
)
