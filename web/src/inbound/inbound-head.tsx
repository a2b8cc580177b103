import type { ReactNode } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { Tabs } from '../parts/pages/tabs.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './inbound.module.css'

/** The common frame of the three pages about inbound messages. */
export function InboundFrame({ actions, children }: { actions?: ReactNode; children(companyId: number): ReactNode }) {
  const { say } = useWords()
  const seesSettings = useMe().rights.includes('settings.see')
  return (
    <>
      <PageHead title={say('inbound.title')} note={say('inbound.note')} actions={actions} />
      {seesSettings && (
        <Tabs
          label={say('inbound.title')}
          tabs={[
            { to: '/inbound', name: say('inbound.tab.messages') },
            { to: '/inbound/rules', name: say('inbound.tab.rules') },
            { to: '/inbound/centers', name: say('inbound.tab.centers') },
          ]}
        />
      )}
      <OneCompany>{children}</OneCompany>
    </>
  )
}

/** No inbound message is stored until staff switch inbound messages on. */
export function SwitchedOff() {
  const { say } = useWords()
  return (
    <p className={styles.off}>
      <Icon name="warn" />
      <span>
        <b>{say('inbound.off.title')}</b> {say('inbound.off.text')}
      </span>
    </p>
  )
}
