import { Progress, SegmentedControl, Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useFormats } from '../format.ts'
import { Section } from '../parts/content/section.tsx'
import { FileDrop } from '../parts/forms/file-drop.tsx'
import { describeFileProblem } from '../parts/forms/file-mistake.ts'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { useWords } from '../words/words.ts'
import styles from './numbering.module.css'
import {
  compareUpload,
  NUMBERING,
  type Numbering,
  numberingQuery,
  removeUpload,
  type SourceKind,
  sendFile,
  useNumberingSearch,
} from './numbering.ts'

/** Uploads a file of the numbering plan in pieces. The page shows the differences before the plan changes. */
export function ImportBox({ data }: { data: Numbering }) {
  const words = useWords()
  const { say } = words
  const [options, setOptions] = useState<Options>({ kind: 'register', replaces: false })
  const [isTooLarge, setIsTooLarge] = useState(false)
  const { upload, sent } = useUpload(data.pieceBytes, options)
  const start = (file: File) => {
    setIsTooLarge(file.size > data.largestBytes)
    if (file.size <= data.largestBytes) upload.mutate(file)
  }
  return (
    <Section title={say('numbering.import')}>
      <div className={styles.import}>
        <OptionFields options={options} isDisabled={upload.isPending} onChange={setOptions} />
        {upload.isError && <FormProblem>{describeFileProblem(words, upload.error)}</FormProblem>}
        {isTooLarge && <FormProblem>{say('numbering.import.tooLarge')}</FormProblem>}
        {upload.isPending ? (
          <div role="status">
            <Progress value={sent * 100} aria-label={say('numbering.import.sending')} />
            <p className="note">{say(sent < 1 ? 'numbering.import.sending' : 'numbering.import.comparing')}</p>
          </div>
        ) : (
          <FileDrop
            title={say('numbering.import.drop')}
            note={say(options.kind === 'register' ? 'numbering.import.registerNote' : 'numbering.import.portedNote')}
            button={say('numbering.import.choose')}
            accept=".csv,.txt,text/csv,text/plain"
            onFiles={([file]) => file && start(file)}
          />
        )}
        <WaitingFiles files={data.uploads} />
      </div>
    </Section>
  )
}

type Options = { kind: SourceKind; replaces: boolean }

/** `sent` is the share of the file that the server has. */
function useUpload(pieceBytes: number, options: Options) {
  const { change } = useNumberingSearch()
  const [sent, setSent] = useState(0)
  const client = useQueryClient()
  const upload = useMutation({
    mutationFn: async (file: File) => {
      setSent(0)
      const uploadId = await sendFile(file, { ...options, pieceBytes }, setSent)
      // A file that cannot be read is deleted on the server. The box shows the mistake.
      const compared = await compareUpload(uploadId).catch(async error => {
        await removeUpload(uploadId).catch(() => {})
        throw error
      })
      client.setQueryData([...NUMBERING, 'upload', uploadId], compared)
      return uploadId
    },
    onSettled: () => client.invalidateQueries({ queryKey: numberingQuery.queryKey }),
    onSuccess: uploadId => change({ upload: uploadId }),
  })
  return { upload, sent }
}

type OptionProps = { options: Options; isDisabled: boolean; onChange(options: Options): void }

function OptionFields({ options, isDisabled, onChange }: OptionProps) {
  const { say } = useWords()
  const { kind, replaces } = options
  return (
    <>
      <SegmentedControl<SourceKind>
        fullWidth
        aria-label={say('numbering.import.kind')}
        value={kind}
        disabled={isDisabled}
        data={[
          { value: 'register', label: say('numbering.register') },
          { value: 'ported', label: say('numbering.ported') },
        ]}
        onChange={value => onChange({ ...options, kind: value })}
      />
      <Switch
        label={say('numbering.import.replaces')}
        description={say(
          kind === 'register' ? 'numbering.import.replaces.register' : 'numbering.import.replaces.ported',
        )}
        checked={replaces}
        disabled={isDisabled}
        onChange={({ currentTarget }) => onChange({ ...options, replaces: currentTarget.checked })}
      />
    </>
  )
}

/** Uploaded files that were compared and not imported. They count toward the limit of files. */
function WaitingFiles({ files }: { files: Numbering['uploads'] }) {
  const { say } = useWords()
  const { time } = useFormats()
  if (files.length === 0) return null
  return (
    <div>
      <p className="note">{say('numbering.import.waiting')}</p>
      <ul className={styles.virtual}>
        {files.map(({ uploadId, kind, name, expiresAt }) => (
          <li key={uploadId}>
            <Link
              className={`link ${styles.name}`}
              to="/numbering"
              search={before => ({ ...before, upload: uploadId })}
            >
              {name || say(kind === 'register' ? 'numbering.register' : 'numbering.ported')}
            </Link>
            <span className="note">{time(expiresAt).slice(0, 5)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
