import { ActionIcon, Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../api.ts'
import columns from '../parts/content/columns.module.css'
import { Icon } from '../parts/content/icon.tsx'
import { Section } from '../parts/content/section.tsx'
import { ButtonMenu } from '../parts/dialogs/button-menu.tsx'
import { ConfirmDialog } from '../parts/dialogs/confirm-dialog.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import table from '../parts/lists/table.module.css'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useCompanyId } from '../parts/pages/one-company.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './inbound.module.css'
import { INBOUND, pathOf, type Rule, type Rules, rulesQuery } from './inbound.ts'
import { InboundFrame, SwitchedOff } from './inbound-head.tsx'
import { RuleDialog } from './rule-dialog.tsx'
import { Tester } from './tester.tsx'

type Task = { kind: 'add' } | { kind: 'change' | 'remove'; rule: Rule }

/** The rules that assign inbound messages to traffic centers and callback addresses, and a tester of them. */
export function RulesPage() {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('settings.change')
  const companyId = useCompanyId()
  const [task, setTask] = useState<Task>()
  return (
    <InboundFrame
      actions={
        mayChange &&
        companyId !== undefined && (
          <Button variant="filled" leftSection={<Icon name="plus" />} onClick={() => setTask({ kind: 'add' })}>
            {say('inbound.rule.add')}
          </Button>
        )
      }
    >
      {companyId => <OfCompany companyId={companyId} task={task} onTask={setTask} mayChange={mayChange} />}
    </InboundFrame>
  )
}

type Props = { companyId: number; task: Task | undefined; onTask(task: Task | undefined): void; mayChange: boolean }

function OfCompany({ companyId, task, onTask, mayChange }: Props) {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(rulesQuery(companyId))
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows />
  const close = () => onTask(undefined)
  return (
    <>
      {!data.isOn && <SwitchedOff />}
      <div className={columns.columns}>
        <div>
          <Section title={say('inbound.rules')} note={say('inbound.rules.note')}>
            <RuleTable rules={data} onTask={mayChange ? onTask : undefined} />
          </Section>
        </div>
        <aside className={columns.aside}>
          <Tester companyId={companyId} rules={data} />
        </aside>
      </div>
      {task?.kind === 'add' && <RuleDialog companyId={companyId} rules={data} onClose={close} />}
      {task?.kind === 'change' && <RuleDialog companyId={companyId} rules={data} rule={task.rule} onClose={close} />}
      {task?.kind === 'remove' && <RemoveDialog companyId={companyId} rule={task.rule} onClose={close} />}
    </>
  )
}

type TableProps = { rules: Rules; onTask: ((task: Task) => void) | undefined }

function RuleTable({ rules: { rules, centers }, onTask }: TableProps) {
  const { say } = useWords()
  const center = centers.find(({ isDefault }) => isDefault)
  const hasPlaces = rules.length > 0
  return (
    <table className={`${table.table} ${styles.rules}`}>
      <thead>
        <tr>
          {hasPlaces && <th className={styles.place} aria-label={say('inbound.rule.place')} />}
          <th>{say('inbound.to')}</th>
          <th>{say('inbound.center')}</th>
          <th>{say('inbound.rule.told')}</th>
          {onTask && <th className={table.actions} aria-label={say('app.more')} />}
        </tr>
      </thead>
      <tbody>
        {rules.map((rule, place) => (
          <RuleRow key={rule.ruleId} rule={rule} place={place + 1} onTask={onTask} />
        ))}
        <tr className={styles.rest}>
          {hasPlaces && <td className={styles.place} />}
          <td className={table.title}>{say(hasPlaces ? 'inbound.rule.rest' : 'inbound.rule.everything')}</td>
          <td data-label={say('inbound.center')}>{center?.name}</td>
          <td data-label={say('inbound.rule.told')} className={styles.told}>
            {say('inbound.rule.nobody')}
          </td>
          {onTask && <td className={table.actions} />}
        </tr>
      </tbody>
    </table>
  )
}

type RowProps = { rule: Rule; place: number; onTask: TableProps['onTask'] }

function RuleRow({ rule, place, onTask }: RowProps) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const names = rule.senderNames.join(', ') || say('inbound.rule.anyName')
  return (
    <tr>
      <td className={styles.place}>{place}</td>
      <td className={table.title}>
        <span className={table.main}>{names}</span>
        <span className={table.sub}>{channel(rule.channelType)}</span>
      </td>
      <td data-label={say('inbound.center')} className={styles.name}>
        {rule.centerName}
      </td>
      <td data-label={say('inbound.rule.told')} className={`${styles.name} ${styles.told}`}>
        {rule.callbackUrl ?? say('inbound.rule.nobody')}
      </td>
      {onTask && (
        <td className={table.actions}>
          <ButtonMenu
            position="bottom-end"
            width={224}
            button={
              <ActionIcon
                variant="subtle"
                color="gray"
                className={styles.more}
                aria-label={say('inbound.rule.actions', { names })}
              >
                <Icon name="dots" />
              </ActionIcon>
            }
          >
            <Menu.Item leftSection={<Icon name="turn" />} onClick={() => onTask({ kind: 'change', rule })}>
              {say('inbound.rule.change')}
            </Menu.Item>
            <Menu.Item leftSection={<Icon name="cross" />} onClick={() => onTask({ kind: 'remove', rule })}>
              {say('inbound.rule.remove')}
            </Menu.Item>
          </ButtonMenu>
        </td>
      )}
    </tr>
  )
}

function RemoveDialog({ companyId, rule, onClose }: { companyId: number; rule: Rule; onClose(): void }) {
  const { say } = useWords()
  const names = rule.senderNames.join(', ') || say('inbound.rule.anyName')
  return (
    <ConfirmDialog
      title={say('inbound.rule.remove.title', { names })}
      text={say('inbound.rule.remove.text')}
      submit={say('inbound.rule.remove')}
      isDangerous
      change={() => ask<void>('DELETE', pathOf(companyId, `/rules/${rule.ruleId}`))}
      stale={[INBOUND]}
      done={say('inbound.rule.removed')}
      onClose={onClose}
    />
  )
}
