import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import table from '../../parts/lists/table.module.css'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import { type Block, blockedQuery, queryOf, useVerificationSearch, VERIFICATION } from '../verification.ts'

type Props = { companyId: number; mayChange: boolean }

/** Numbers, addresses and prefixes that get no codes for some time, with the reason and the end. */
export function Blocked({ companyId, mayChange }: Props) {
  const { say } = useWords()
  const { filter, change } = useVerificationSearch()
  const { data, error, refetch } = useQuery(blockedQuery(companyId, filter.blocked ?? ''))
  const [chosen, setChosen] = useState<Block>()
  const isSearching = filter.blocked !== undefined
  return (
    <Section
      title={say('verification.blocked')}
      note={say('verification.blocked.note')}
      end={
        (isSearching || (data?.blocked.length ?? 0) > 0) && (
          <TextInput
            className={styles.search}
            aria-label={say('verification.blocked.search')}
            placeholder={say('verification.blocked.search')}
            leftSection={<Icon name="search" />}
            maxLength={100}
            value={filter.blocked ?? ''}
            onChange={({ currentTarget }) => change({ blocked: currentTarget.value || undefined })}
          />
        )
      }
    >
      {!data ? (
        error ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : (
          <BoneRows />
        )
      ) : data.blocked.length === 0 ? (
        <p className="note">{isSearching ? say('verification.blocked.noneFound') : say('verification.blocked.none')}</p>
      ) : (
        <BlockedTable blocked={data.blocked} onUnblock={mayChange ? setChosen : undefined} />
      )}
      {data?.isMore && <p className="note small">{say('verification.blocked.more')}</p>}
      {chosen && <UnblockDialog companyId={companyId} block={chosen} onClose={() => setChosen(undefined)} />}
    </Section>
  )
}

type TableProps = { blocked: Block[]; onUnblock: ((block: Block) => void) | undefined }

function BlockedTable({ blocked, onUnblock }: TableProps) {
  const { say } = useWords()
  const { moment, number } = useFormats()
  const nameOf = useSubjectName()
  const reasonOf = useReason()
  return (
    <table className={table.table}>
      <thead>
        <tr>
          <th>{say('verification.blocked.subject')}</th>
          <th>{say('verification.blocked.why')}</th>
          <th className={table.number}>{say('verification.blocked.times')}</th>
          <th className={table.number}>{say('verification.blocked.until')}</th>
          {onUnblock && <th className={table.number} aria-label={say('verification.unblock')} />}
        </tr>
      </thead>
      <tbody>
        {blocked.map(block => (
          <tr key={block.subject}>
            <td className={table.title}>
              <span className={table.main}>{nameOf(block)}</span>
              <span className={table.sub}>{say(`verification.blocked.${block.kind}`)}</span>
            </td>
            <td data-label={say('verification.blocked.why')}>{reasonOf(block.reason)}</td>
            <td className={table.number} data-label={say('verification.blocked.times')}>
              {number(block.times)}
            </td>
            <td className={table.number} data-label={say('verification.blocked.until')}>
              {moment(block.until)}
            </td>
            {onUnblock && (
              <td className={`${table.number} ${table.corner}`}>
                <button type="button" className={`link ${styles.plain}`} onClick={() => onUnblock(block)}>
                  {say('verification.unblock')}
                </button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Numbers and prefixes begin with a plus sign. Russian numbers are grouped. */
function useSubjectName() {
  const { say } = useWords()
  return ({ kind, value }: Block): string => {
    if (value === null) return say('verification.blocked.allOfCompany')
    if (kind !== 'number' && kind !== 'prefix') return value
    return `+${value}`.replace(/^\+7(\d{3})(\d{3})(\d{2})?(\d{2})?/, (_, ...groups: (string | undefined)[]) => {
      const [code, first, second, third] = groups
      return ['+7', code, [first, second, third].filter(Boolean).join('-')].join(' ')
    })
  }
}

/** Translates the three known reasons of the server. Another reason is shown as it is. */
function useReason() {
  const { say } = useWords()
  return (reason: string | null): string => {
    const [, count, span] = /^(\d+) codes? within (a day|an hour)$/.exec(reason ?? '') ?? []
    if (span === 'a day') return say('verification.blocked.reason.day', { count: Number(count) })
    if (span === 'an hour') return say('verification.blocked.reason.hour', { count: Number(count) })
    const [, confirmed, sent] = /^(\d+) of (\d+) codes confirmed$/.exec(reason ?? '') ?? []
    if (sent) return say('verification.blocked.reason.share', { confirmed: Number(confirmed), sent: Number(sent) })
    return reason ?? '–'
  }
}

type DialogProps = { companyId: number; block: Block; onClose(): void }

function UnblockDialog({ companyId, block, onClose }: DialogProps) {
  const { say } = useWords()
  const subject = useSubjectName()(block)
  return (
    <ConfirmDialog
      title={say('verification.unblock.title', { subject })}
      text={say('verification.unblock.text')}
      submit={say('verification.unblock')}
      change={() => ask<void>('POST', `/verification/unblock?${queryOf({ companyId })}`, { subject: block.subject })}
      stale={[VERIFICATION]}
      done={say('verification.unblocked', { subject })}
      onClose={onClose}
    />
  )
}
