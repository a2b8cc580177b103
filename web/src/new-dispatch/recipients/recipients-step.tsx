import { Button, NativeSelect, Textarea } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { FileDrop } from '../../parts/forms/file-drop.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { useMe } from '../../session.ts'
import { useWords, type Words } from '../../words/words.ts'
import { type Draft, sourceOf } from '../draft.ts'
import { keepFile, keptFile } from '../kept-draft.ts'
import styles from '../new-dispatch.module.css'
import { checkedBy, columnsFor, formOf, placeholdersOf, readBy, readingOf, reportOf } from '../offer.ts'
import { Foot, type StepProps } from '../step.tsx'
import { PriceInFoot, PriceSummary } from '../summary.tsx'
import { ColumnTable } from './column-table.tsx'
import { runTask } from './reading/reader.ts'
import { describeReading } from './reading-problem.ts'
import { ReadingReport } from './reading-report.tsx'

/** The address of the API for the worker. */
export const apiAddress = () => new URL('api', document.baseURI).href

/** Step 2: a file or pasted numbers. The page reads and checks them before the server stores anything. */
export function RecipientsStep({ use, offer }: StepProps) {
  const words = useWords()
  const { say } = words
  const { draft } = use
  const { problem, setProblem, take, takeSheet } = useSource(use)
  const checking = useCheck(use, setProblem)
  const report = reportOf(draft)
  const fault = faultOf(words, draft) ?? (report && report.willBeSent === 0 ? say('new.preview.none') : undefined)
  const isOpen = !report && !fault
  return (
    <>
      <div className={styles.columns}>
        <div>
          {problem !== undefined && <FormProblem>{describeReading(words, problem)}</FormProblem>}
          {draft.source ? <SourceLine use={use} onSheet={takeSheet} /> : <SourceChoice onFile={take} />}
          {draft.source && <ColumnTable use={use} />}
          {checking && <Progress done={checking.rows} isWaiting={checking.isWaiting} />}
          {report && <ReadingReport use={use} report={report} />}
        </div>
        <PriceSummary draft={draft} offer={offer} />
      </div>
      <Foot
        step={2}
        fault={fault ?? (isOpen ? (draft.source ? say('new.file.reading') : say('new.file.drop')) : undefined)}
        sum={<PriceInFoot draft={draft} offer={offer} />}
      />
    </>
  )
}

/** The mistake that prevents the check of the file. */
function faultOf({ say }: Words, draft: Draft): string | undefined {
  if (!draft.source) return undefined
  const { number, placeholders } = columnsFor(draft)
  if (number < 0) return say('new.columns.noNumber')
  const missing = Object.entries(placeholders).flatMap(([name, column]) => (column < 0 ? [`{${name}}`] : []))
  if (missing.length > 0) return say('new.columns.missing', { names: missing.join(', ') })
}

/** Reads the columns of a new file and stores the file with the draft. */
function useSource({ draft, store }: StepProps['use']) {
  const { personId } = useMe()
  const [problem, setProblem] = useState<unknown>()
  const take = async (file: Blob, name: string, isPasted: boolean, sheet?: number) => {
    setProblem(undefined)
    try {
      const look = await runTask({ kind: 'look', file, sheet })
      await keepFile(personId, file)
      const { matchColumns } = await import('./reading/columns.ts') // with the numbering of all countries
      const columns = matchColumns(look.columns, placeholdersOf(draft))
      await store({ source: { name, isPasted, sizeBytes: file.size, look }, columns, checked: undefined })
    } catch (error) {
      setProblem(error)
    }
  }
  const takeSheet = async (sheet: number) => {
    const { name, isPasted } = sourceOf(draft)
    const file = await keptFile(personId)
    if (file) await take(file, name, isPasted, sheet)
  }
  return { problem, setProblem, take, takeSheet }
}

/** Checks the file as soon as all columns are known, and again after each change. */
function useCheck({ draft, change }: StepProps['use'], onProblem: (error: unknown) => void) {
  const { personId } = useMe()
  const words = useWords()
  const [state, setState] = useState<{ rows: number; isWaiting: boolean }>()
  const of = checkedBy(draft)
  const isReady = draft.source !== undefined && !reportOf(draft) && faultOf(words, draft) === undefined
  const latest = useRef({ draft, change, onProblem })
  latest.current = { draft, change, onProblem }

  useEffect(() => {
    if (!isReady) return
    const abort = new AbortController()
    const run = async () => {
      const { draft } = latest.current
      const file = await keptFile(personId)
      if (!file) return latest.current.change({ source: undefined, columns: undefined })
      setState({ rows: 0, isWaiting: false })
      const report = await runTask(
        {
          kind: 'check',
          reading: readingOf(draft, file),
          dispatch: formOf(draft),
          place: { api: apiAddress(), companyId: draft.companyId },
        },
        {
          signal: abort.signal,
          onProgress: rows => setState({ rows, isWaiting: false }),
          onWaiting: () => setState(before => ({ rows: before?.rows ?? 0, isWaiting: true })),
        },
      )
      latest.current.change({ checked: { of, readBy: readBy(draft), report } })
    }
    run()
      .catch(error => latest.current.onProblem(error))
      .finally(() => setState(undefined))
    return () => abort.abort()
  }, [isReady, of, personId])

  return isReady ? state : undefined
}

function SourceChoice({ onFile }: { onFile(file: Blob, name: string, isPasted: boolean): void }) {
  const { say } = useWords()
  const [pasted, setPasted] = useState('')
  return (
    <>
      <FileDrop
        title={say('new.file.drop')}
        note={say('new.file.kinds')}
        button={say('new.file.choose')}
        accept=".csv,.txt,.tsv,.xlsx"
        onFiles={([file]) => file && onFile(file, file.name, false)}
      />
      <Section title={say('new.file.paste')}>
        <Textarea
          aria-label={say('new.file.paste.label')}
          description={say('new.file.paste.help')}
          placeholder={'+7 916 000-00-01'}
          autosize
          minRows={5}
          maxRows={14}
          value={pasted}
          onChange={({ currentTarget }) => setPasted(currentTarget.value)}
        />
        <Button
          mt="sm"
          disabled={pasted.trim() === ''}
          onClick={() => onFile(new Blob([pasted]), say('new.file.pasted'), true)}
        >
          {say('new.file.paste.use')}
        </Button>
      </Section>
    </>
  )
}

const separatorNames = { ',': '“,”', ';': '“;”' }
const KB = 1000
const MB = 1000 * KB

type LineProps = { use: StepProps['use']; onSheet(sheet: number): void }

function SourceLine({ use: { draft, change }, onSheet }: LineProps) {
  const { say } = useWords()
  const { number } = useFormats()
  const { name, sizeBytes, look } = sourceOf(draft)
  const { form } = look
  const rows = reportOf(draft)?.rows
  const size = sizeBytes < MB ? `${number(Math.ceil(sizeBytes / KB))} kB` : `${number(Math.round(sizeBytes / MB))} MB`
  const written =
    form.kind === 'xlsx'
      ? say('new.file.xlsx')
      : say('new.file.csv', {
          encoding: form.encoding,
          separator: form.separator === '\t' ? say('new.file.tab') : separatorNames[form.separator],
        })
  return (
    <div className={styles.file}>
      <span className={styles.fileIcon}>
        <Icon name="book" size={18} />
      </span>
      <div>
        <div className="strong">{name}</div>
        <div className="note small">
          {rows !== undefined && `${say('new.file.rows', { count: rows })}, `}
          {size} · {written}
        </div>
      </div>
      {form.kind === 'xlsx' && form.sheets && form.sheets.length > 1 && (
        <NativeSelect
          className={styles.sheet}
          aria-label={say('new.file.sheet')}
          value={String(form.sheet ?? 0)}
          onChange={({ currentTarget }) => onSheet(Number(currentTarget.value))}
          data={form.sheets.map((label, place) => ({ value: String(place), label }))}
        />
      )}
      <Button onClick={() => change({ source: undefined, columns: undefined, checked: undefined })}>
        {say('new.file.replace')}
      </Button>
    </div>
  )
}

export function Progress({ done, isWaiting }: { done: number; isWaiting: boolean }) {
  const { say } = useWords()
  return (
    <p className={styles.progress} role="status">
      <b>{say('new.file.reading')}</b> {say('new.file.rows', { count: done })}
      {isWaiting && <span className={styles.fault}> {say('new.file.waiting')}</span>}
    </p>
  )
}
