import { ActionIcon } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import { INBOUND } from '../inbound/inbound.ts'
import { groupedNumber } from '../messages/names.ts'
import { Icon, type IconName } from '../parts/content/icon.tsx'
import { Status, type StatusKind } from '../parts/content/status.tsx'
import { ConfirmDialog } from '../parts/dialogs/confirm-dialog.tsx'
import table from '../parts/lists/table.module.css'
import { useWords } from '../words/words.ts'
import styles from './blacklist.module.css'
import { BLACKLIST, type Entry, pathOf } from './blacklist.ts'

type Props = { companyId: number; entries: Entry[]; mayChange: boolean }

export function BlacklistTable({ companyId, entries, mayChange }: Props) {
  const { say } = useWords()
  const [leaving, setLeaving] = useState<Entry>()
  return (
    <>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{say('blacklist.number')}</th>
            <th>{say('blacklist.source')}</th>
            <th>{say('blacklist.comment')}</th>
            <th className={table.number}>{say('blacklist.since')}</th>
            {mayChange && <th className={table.actions} aria-label={say('app.more')} />}
          </tr>
        </thead>
        <tbody>
          {entries.map(entry => (
            <Row key={entry.msisdn} entry={entry} onRemove={mayChange ? () => setLeaving(entry) : undefined} />
          ))}
        </tbody>
      </table>
      {leaving && <RemoveDialog companyId={companyId} entry={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  )
}

function Row({ entry, onRemove }: { entry: Entry; onRemove: (() => void) | undefined }) {
  const { say } = useWords()
  const { date } = useFormats()
  const { msisdn, comment, createdAt } = entry
  return (
    <tr>
      <td className={`${table.title} ${table.main} ${styles.number}`}>{groupedNumber(msisdn)}</td>
      <td className={table.corner}>
        <Source entry={entry} />
      </td>
      <td data-label={say('blacklist.comment')} className={comment ? '' : styles.none}>
        {comment ?? '—'}
      </td>
      <td data-label={say('blacklist.since')} className={table.number}>
        <time dateTime={createdAt}>{date(createdAt)}</time>
      </td>
      {onRemove && (
        <td className={table.actions}>
          <ActionIcon
            variant="subtle"
            color="gray"
            className={styles.remove}
            aria-label={say('blacklist.removeOf', { number: groupedNumber(msisdn) })}
            onClick={onRemove}
          >
            <Icon name="cross" />
          </ActionIcon>
        </td>
      )}
    </tr>
  )
}

const sources = {
  STOP: ['warn', 'slash'],
  API: ['wait', 'hook'],
  STAFF: ['wait', 'shield'],
  CABINET: ['wait', 'person'],
  FILE: ['wait', 'book'],
} as const satisfies Record<NonNullable<Entry['source']>, readonly [StatusKind, IconName]>

function Source({ entry: { source } }: { entry: Entry }) {
  const { say } = useWords()
  if (source === null) return <span className={table.dim}>{say('blacklist.source.unknown')}</span>
  const [kind, icon] = sources[source]
  return (
    <Status kind={kind} icon={icon}>
      {say(`blacklist.source.${source}`)}
    </Status>
  )
}

/** Warns before it removes a subscriber who used a stop word. */
function RemoveDialog({ companyId, entry, onClose }: { companyId: number; entry: Entry; onClose(): void }) {
  const { say } = useWords()
  const number = groupedNumber(entry.msisdn)
  return (
    <ConfirmDialog
      title={say('blacklist.remove.title', { number })}
      text={say(entry.source === 'STOP' ? 'blacklist.remove.stopText' : 'blacklist.remove.text')}
      submit={say('blacklist.remove.submit')}
      isDangerous
      change={() => ask<void>('DELETE', pathOf(companyId, `/${entry.msisdn}`))}
      stale={[BLACKLIST, INBOUND]} // the page of inbound messages shows which stop words are still in force
      done={say('blacklist.removed', { number })}
      onClose={onClose}
    />
  )
}
