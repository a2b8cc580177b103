import { Button, Progress } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Status } from '../parts/content/status.tsx'
import { FileDrop } from '../parts/forms/file-drop.tsx'
import { describeProblem } from '../problems.ts'
import { useWords, type Words } from '../words/words.ts'
import styles from './documents.module.css'
import { DOCUMENT_TYPES, documentsQuery, LARGEST_BYTES, useSizes } from './documents.ts'
import { uploadDocument } from './upload.ts'

type Upload = { key: number; file: File; share: number; problem?: string; isDone?: boolean }

let uploads = 0

/** Uploads several files, one after the other, and reports the progress of each. */
export function useUploads(companyId: number) {
  const words = useWords()
  const client = useQueryClient()
  const [list, setList] = useState<Upload[]>([])
  const change = (key: number, by: Partial<Upload>) =>
    setList(before => before.map(upload => (upload.key === key ? { ...upload, ...by } : upload)))

  const send = async ({ key, file }: Upload) => {
    try {
      await uploadDocument(companyId, file, share => change(key, { share }))
      change(key, { share: 1, isDone: true })
      await client.invalidateQueries({ queryKey: documentsQuery(companyId).queryKey })
    } catch (error) {
      change(key, { problem: problemOf(words, error) })
    }
  }

  const add = async (files: File[]) => {
    const added = files.map((file): Upload => {
      const problem = refusalOf(words, file)
      return { key: ++uploads, file, share: 0, ...(problem ? { problem } : {}) }
    })
    setList(before => [...before.filter(({ isDone }) => !isDone), ...added])
    for (const upload of added) if (!upload.problem) await send(upload)
  }

  const again = (upload: Upload) => {
    change(upload.key, { problem: '', share: 0 })
    void send(upload)
  }

  return { list, add: (files: File[]) => void add(files), again }
}

/** Checks the rules of the server before the upload. */
function refusalOf({ say }: Words, { size, name, type }: File): string | undefined {
  if (size === 0) return say('documents.refused.empty')
  if (size > LARGEST_BYTES) return say('documents.refused.size')
  const isKnown = /\.(pdf|jpe?g|png)$/i.test(name) || /^(application\/pdf|image\/(jpeg|png))$/.test(type)
  return isKnown ? undefined : say('documents.refused.kind')
}

function problemOf(words: Words, error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (/^file: must be a PDF/.test(message)) return words.say('documents.refused.kind')
  if (/^file: the (company|partner)/.test(message)) return words.say('documents.refused.room')
  return describeProblem(words, error)
}

/** The drop zone for files, and the list of uploads. */
export function Uploads({ uploads: { list, add, again } }: { uploads: ReturnType<typeof useUploads> }) {
  const { say } = useWords()
  return (
    <>
      <FileDrop
        title={say('documents.drop')}
        note={say('documents.drop.note')}
        button={say('documents.choose')}
        accept={DOCUMENT_TYPES}
        isMultiple
        onFiles={add}
      />
      {list.length > 0 && (
        <ul className={styles.uploads} aria-label={say('documents.uploads')}>
          {list.map(upload => (
            <UploadLine key={upload.key} upload={upload} onAgain={() => again(upload)} />
          ))}
        </ul>
      )}
    </>
  )
}

function UploadLine({ upload, onAgain }: { upload: Upload; onAgain(): void }) {
  const { say } = useWords()
  const sizeOf = useSizes()
  const { file, share, problem, isDone } = upload
  return (
    <li>
      <span className={styles.uploadName}>{file.name}</span>
      <span className={styles.uploadState}>
        {isDone ? (
          <Status kind="ok">{say('documents.uploaded')}</Status>
        ) : problem ? (
          <>
            <Status kind="fail">{problem}</Status>
            {!refusedForGood(upload) && (
              <Button size="compact-xs" onClick={onAgain}>
                {say('app.tryAgain')}
              </Button>
            )}
          </>
        ) : (
          <>
            <Progress value={share * 100} size={6} className={styles.progress} aria-label={file.name} />
            <span className="note">{sizeOf(file.size)}</span>
          </>
        )}
      </span>
    </li>
  )
}

/** The server refuses such a file at each attempt. */
const refusedForGood = ({ file: { size, name } }: Upload) =>
  size === 0 || size > LARGEST_BYTES || !/\.(pdf|jpe?g|png)$/i.test(name)
