import { NativeSelect } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useFormats } from '../../format.ts'
import { Icon, type IconName } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import table from '../../parts/lists/table.module.css'
import { useWords } from '../../words/words.ts'
import styles from '../new-dispatch.module.css'
import type { DraftUse } from '../use-draft.ts'
import { downloadBadLines } from './bad-lines.ts'
import type { Preview, Report } from './reading/tasks.ts'
import { describeFault } from './reading-problem.ts'

/** The result of reading: counts, skipped lines with reasons, and a preview of the first messages. */
export function ReadingReport({ use, report }: { use: DraftUse; report: Report }) {
  const { say } = useWords()
  const bad = report.bad.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <Section title={say('new.read')}>
        <ul className={styles.check}>
          <Line kind="ok" icon="ok" count={report.willBeSent} text={say('new.read.sent')} />
          <Line
            kind="warn"
            icon="copy"
            count={report.duplicates}
            text={say('new.read.duplicates')}
            end={<RepeatsChoice use={use} />}
          />
          <Line kind="fail" icon="fail" count={bad} text={say('new.read.bad')} end={say('new.read.leftOut')} />
          <Line
            kind="wait"
            icon="slash"
            count={report.blacklisted}
            text={say('new.read.blacklisted')}
            end={say('new.read.leftOut')}
          />
        </ul>
      </Section>
      {bad > 0 && <BadTable report={report} />}
      {report.preview.length > 0 && <PreviewTable preview={report.preview} />}
    </>
  )
}

type LineProps = { kind: string; icon: IconName; count: number; text: string; end?: ReactNode }

function Line({ kind, icon, count, text, end }: LineProps) {
  const { number } = useFormats()
  return (
    <li>
      <span className={styles[kind]}>
        <Icon name={icon} />
      </span>
      <span className={styles.count}>{number(count)}</span>
      <span>{text}</span>
      <span className="note">{count > 0 && end}</span>
    </li>
  )
}

function RepeatsChoice({ use: { draft, change } }: { use: DraftUse }) {
  const { say } = useWords()
  return (
    <NativeSelect
      size="xs"
      aria-label={say('new.read.repeats')}
      value={draft.repeats}
      onChange={({ currentTarget }) => change({ repeats: currentTarget.value === 'each' ? 'each' : 'once' })}
      data={[
        { value: 'once', label: say('new.read.once') },
        { value: 'each', label: say('new.read.each') },
      ]}
    />
  )
}

function BadTable({ report }: { report: Report }) {
  const words = useWords()
  const { say } = words
  const { number } = useFormats()
  return (
    <Section
      title={say('new.bad')}
      end={
        <button
          type="button"
          className={`link ${styles.plain}`}
          onClick={() => downloadBadLines(words, report.badLines)}
        >
          {say('new.bad.download')}
        </button>
      }
    >
      <table className={`${table.table} ${styles.tight}`}>
        <thead>
          <tr>
            <th>{say('new.bad.what')}</th>
            <th>{say('new.bad.example')}</th>
            <th className={table.number}>{say('new.bad.line')}</th>
            <th className={table.number}>{say('new.bad.count')}</th>
          </tr>
        </thead>
        <tbody>
          {report.bad.map(({ fault, example, line, count }) => (
            <tr key={fault}>
              <td className={`${table.title} ${table.main}`}>{describeFault(words, fault)}</td>
              <td className="mono" data-label={say('new.bad.example')}>
                {example}
              </td>
              <td className={table.number} data-label={say('new.bad.line')}>
                {number(line)}
              </td>
              <td className={table.number} data-label={say('new.bad.count')}>
                {number(count)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}

const SHOWN = 5

function PreviewTable({ preview }: { preview: Preview[] }) {
  const { say } = useWords()
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? preview : preview.slice(0, SHOWN)
  const more = preview.length - shown.length
  return (
    <Section title={say('new.preview')} note={say('new.preview.first', { count: preview.length })}>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{say('new.preview.number')}</th>
            <th>{say('new.preview.text')}</th>
            <th className={table.number}>{say('new.summary.parts')}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ digits, brand, text, parts }, at) => (
            <tr key={at}>
              <td className={table.title}>
                <span className={`${table.main} ${styles.nowrap}`}>{grouped(digits)}</span>
                <span className={table.sub}>{say(`operator.${brand ?? 'OTHER'}`)}</span>
              </td>
              <td className={styles.whole}>{text}</td>
              <td className={`${table.number} ${table.corner}`}>{parts}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <button type="button" className={`link ${styles.plain} ${styles.below}`} onClick={() => setIsWhole(true)}>
          {say('new.preview.more', { count: more })}
        </button>
      )}
    </Section>
  )
}

/** `+7 916 000-00-01`. Foreign numbers are not grouped. */
export const grouped = (digits: string) => `+${digits}`.replace(/^\+7(\d{3})(\d{3})(\d{2})(\d{2})$/, '+7 $1 $2-$3-$4')
