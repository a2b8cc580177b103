import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useFormats } from '../format.ts'
import { downloadBadLines } from '../new-dispatch/recipients/bad-lines.ts'
import { ReadingFailed, runWorker } from '../new-dispatch/recipients/reading/reader.ts'
import { describeFault, describeReading } from '../new-dispatch/recipients/reading-problem.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { FileDrop } from '../parts/forms/file-drop.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { useWords } from '../words/words.ts'
import styles from './blacklist.module.css'
import { BLACKLIST } from './blacklist.ts'
import type { ImportReport, ImportTask } from './import-numbers.ts'
import { MOST_NUMBERS } from './most-numbers.ts'

type State =
  | { kind: 'choice'; problem?: unknown }
  | { kind: 'reading'; rows: number; isWaiting: boolean }
  | { kind: 'done'; report: ImportReport }

/**
 * Imports numbers from a file. Closing the dialog stops the import. Importing the same file again adds the missing
 * numbers.
 */
export function ImportDialog({ companyId, onClose }: { companyId: number; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const { state, start } = useImport(companyId)
  return (
    <Dialog
      title={say('blacklist.import.title')}
      {...(state.kind === 'choice' ? { text: say('blacklist.import.text') } : {})}
      close={say(
        state.kind === 'done' ? 'app.done' : state.kind === 'reading' ? 'blacklist.import.stop' : 'app.cancel',
      )}
      onClose={onClose}
    >
      {state.kind === 'choice' && (
        <>
          {state.problem !== undefined && <FormProblem>{describeReading(words, state.problem)}</FormProblem>}
          <FileDrop
            title={say('blacklist.import.drop')}
            note={say('blacklist.import.kinds')}
            button={say('blacklist.import.choose')}
            accept=".csv,.txt,.tsv,.xlsx"
            onFiles={([file]) => file && start(file)}
          />
        </>
      )}
      {state.kind === 'reading' && <Progress {...state} />}
      {state.kind === 'done' && <Report report={state.report} />}
    </Dialog>
  )
}

function useImport(companyId: number) {
  const [state, setState] = useState<State>({ kind: 'choice' })
  const client = useQueryClient()
  const abort = useRef(new AbortController())
  const refresh = () => client.invalidateQueries({ queryKey: BLACKLIST })
  const latest = useRef(refresh)
  latest.current = refresh
  useEffect(
    () => () => {
      abort.current.abort()
      void latest.current()
    },
    [],
  )
  const start = async (file: File) => {
    const worker = new Worker(new URL('./import.worker.ts', import.meta.url), { type: 'module' })
    const task: ImportTask = {
      file,
      fileName: file.name,
      comment: '',
      place: { api: new URL('api', document.baseURI).href, companyId },
    }
    abort.current = new AbortController()
    setState({ kind: 'reading', rows: 0, isWaiting: false })
    try {
      const report = await runWorker<ImportReport>(worker, task, {
        signal: abort.current.signal,
        onProgress: rows => setState({ kind: 'reading', rows, isWaiting: false }),
        onWaiting: () => setState(before => (before.kind === 'reading' ? { ...before, isWaiting: true } : before)),
      })
      setState({ kind: 'done', report })
    } catch (problem) {
      setState({ kind: 'choice', problem: problem instanceof ReadingFailed ? problem : undefined })
    }
    await refresh()
  }
  return { state, start }
}

function Progress({ rows, isWaiting }: { rows: number; isWaiting: boolean }) {
  const { say } = useWords()
  return (
    <p role="status">
      <b>{say('blacklist.import.reading')}</b> {say('blacklist.import.rows', { count: rows })}
      {isWaiting && <span className="note"> {say('blacklist.import.waiting')}</span>}
    </p>
  )
}

function Report({ report }: { report: ImportReport }) {
  const words = useWords()
  const { say } = words
  const { number } = useFormats()
  const lines: [number, string][] = [
    [report.added, say('blacklist.import.added')],
    [report.alreadyThere, say('blacklist.import.there')],
    [report.duplicates, say('blacklist.import.duplicates')],
    [report.bad, say('blacklist.import.bad')],
  ]
  return (
    <>
      {report.isCut && <FormProblem>{say('blacklist.import.cut', { most: MOST_NUMBERS })}</FormProblem>}
      <dl className={styles.report}>
        {lines.map(([count, text]) => (
          <div key={text}>
            <dt>{number(count)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {report.bad > 0 && (
        <>
          <ul className={styles.bad}>
            {report.examples.map(({ line, written, fault }) => (
              <li key={line}>{say('blacklist.import.line', { line, written, fault: describeFault(words, fault) })}</li>
            ))}
          </ul>
          <p className="note">{say('blacklist.import.advice')}</p>
          <button
            type="button"
            className={`link ${styles.plain}`}
            onClick={() => downloadBadLines(words, report.badLines)}
          >
            {say('blacklist.import.download')}
          </button>
        </>
      )}
    </>
  )
}
