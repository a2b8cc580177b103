import { Icon, type IconName } from './icon.tsx'
import styles from './status.module.css'

export type StatusKind = 'ok' | 'sent' | 'fail' | 'warn' | 'wait'

type Props = { kind: StatusKind; icon?: IconName; children: string; isPill?: boolean }

/** A status is an icon, a word and a colour, always in this order. Beside a title it is a pill. */
export const Status = ({ kind, icon = iconOf[kind], children, isPill = false }: Props) => (
  <span className={`${styles.status} ${styles[kind]} ${isPill ? styles.pill : ''}`}>
    <Icon name={icon} size={15} />
    {children}
  </span>
)

const iconOf: Record<StatusKind, IconName> = { ok: 'ok', sent: 'sent', fail: 'fail', warn: 'warn', wait: 'wait' }
