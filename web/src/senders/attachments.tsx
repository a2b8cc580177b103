import { ActionIcon, Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { tellProblem } from '../parts/dialogs/toast.tsx'
import { FileDrop } from '../parts/forms/file-drop.tsx'
import { useWords } from '../words/words.ts'
import styles from './attachments.module.css'
import { addressOf, DOCUMENTS, documentsQuery, type StoredDocument, uploadDocument } from './documents.ts'

/** The limits of the server for the documents of one name. */
const MOST_DOCUMENTS = 20
const MOST_BYTES = 10 * 1024 * 1024
const MOST_OFFERED = 8
const TYPES = ['application/pdf', 'image/jpeg', 'image/png']

type Props = {
  companyId: number
  value: StoredDocument[]
  error?: string | undefined
  onChange(documents: StoredDocument[]): void
}

/**
 * Documents of a request. Dropped files become documents of the company, and earlier documents can be attached again.
 */
export function Attachments({ companyId, value, error, onChange }: Props) {
  const { say } = useWords()
  const uploads = useUploads(companyId, value, onChange)
  const { data } = useQuery(documentsQuery(companyId))
  const attached = new Set(value.map(({ id }) => id))
  const earlier = data?.documents.filter(({ id }) => !attached.has(id)).slice(0, MOST_OFFERED) ?? []
  const problem = uploads.problem ?? error
  return (
    <>
      {value.length + uploads.names.length > 0 && (
        <AttachedFiles
          companyId={companyId}
          documents={value}
          uploading={uploads.names}
          onRemove={removed => onChange(value.filter(({ id }) => id !== removed.id))}
        />
      )}
      <FileDrop
        title={say('senders.form.drop')}
        note={say('senders.form.drop.note')}
        button={say('senders.form.drop.button')}
        accept={TYPES.join(',')}
        isMultiple
        onFiles={uploads.add}
      />
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
      {earlier.length > 0 && (
        <EarlierDocuments
          companyId={companyId}
          documents={earlier}
          onAttach={document => onChange([...value, document].slice(0, MOST_DOCUMENTS))}
        />
      )}
    </>
  )
}

type ListProps = { companyId: number; documents: StoredDocument[] }
type AttachedProps = ListProps & { uploading: string[]; onRemove(document: StoredDocument): void }

function AttachedFiles({ companyId, documents, uploading, onRemove }: AttachedProps) {
  const { say } = useWords()
  return (
    <ul className={styles.files}>
      {documents.map(document => (
        <li key={document.id}>
          <DocumentLink companyId={companyId} document={document} />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={say('senders.form.remove', { name: document.filename })}
            onClick={() => onRemove(document)}
          >
            <Icon name="cross" />
          </ActionIcon>
        </li>
      ))}
      {uploading.map(name => (
        <li key={name} role="status">
          <span className="note">{say('senders.form.uploading', { name })}</span>
        </li>
      ))}
    </ul>
  )
}

function EarlierDocuments({
  companyId,
  documents,
  onAttach,
}: ListProps & { onAttach(document: StoredDocument): void }) {
  const { say } = useWords()
  return (
    <div className={styles.earlier}>
      <h3>{say('senders.form.earlier')}</h3>
      <ul className={styles.files}>
        {documents.map(document => (
          <li key={document.id}>
            <DocumentLink companyId={companyId} document={document} />
            <Button
              size="compact-xs"
              aria-label={say('senders.form.attachNamed', { name: document.filename })}
              onClick={() => onAttach(document)}
            >
              {say('senders.form.attach')}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  )
}

const DocumentLink = ({ companyId, document }: { companyId: number; document: StoredDocument }) => (
  <a className="link" href={addressOf(companyId, document)} target="_blank" rel="noreferrer">
    {document.filename}
  </a>
)

/** Uploads dropped files one after the other. It skips files that the server would refuse. */
function useUploads(companyId: number, value: StoredDocument[], onChange: Props['onChange']) {
  const { say } = useWords()
  const client = useQueryClient()
  const [names, setNames] = useState<string[]>([])
  const [problem, setProblem] = useState<string>()

  const add = async (files: File[]) => {
    const bad = files.find(({ type, size }) => !TYPES.includes(type) || size > MOST_BYTES || size === 0)
    const isTooMany = value.length + files.length > MOST_DOCUMENTS
    setProblem(
      bad
        ? say('senders.form.badFile', { name: bad.name })
        : isTooMany
          ? say('senders.form.tooMany', { count: MOST_DOCUMENTS })
          : undefined,
    )
    if (bad || isTooMany) return
    setNames(files.map(({ name }) => name))
    const stored: StoredDocument[] = []
    try {
      for (const file of files) {
        stored.push(await uploadDocument(companyId, file))
        onChange([...value, ...stored])
        setNames(left => left.slice(1))
      }
    } catch (error) {
      tellProblem(error)
    }
    setNames([])
    await client.invalidateQueries({ queryKey: DOCUMENTS })
  }
  return { names, problem, add }
}
