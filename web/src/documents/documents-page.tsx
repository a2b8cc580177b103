import { Button, Modal, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import { ConfirmDialog } from '../parts/dialogs/confirm-dialog.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import type { Column } from '../parts/lists/columns.ts'
import { Cell, ListTable } from '../parts/lists/list-table.tsx'
import table from '../parts/lists/table.module.css'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { DocumentView } from './document-view.tsx'
import styles from './documents.module.css'
import { addressOf, type CompanyDocument, documentsQuery, useSizes } from './documents.ts'
import { Uploads, useUploads } from './uploads.tsx'

/** The files of one company, for instance its charter and letters that permit a sender name. */
export function DocumentsPage() {
  const { say } = useWords()
  return (
    <>
      <PageHead title={say('documents.title')} note={say('documents.note')} />
      <OneCompany>{companyId => <Documents key={companyId} companyId={companyId} />}</OneCompany>
    </>
  )
}

function Documents({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('settings.change')
  const uploads = useUploads(companyId)
  const { data, error, refetch } = useQuery(documentsQuery(companyId))
  const documents = data?.documents
  return (
    <>
      {mayChange && <Uploads uploads={uploads} />}
      <div className={styles.list}>
        {documents ? (
          documents.length > 0 ? (
            <DocumentTable companyId={companyId} documents={documents} />
          ) : (
            !mayChange && <Blank drawing="bird" title={say('documents.empty')} text={say('documents.empty.text')} />
          )
        ) : error ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : (
          <BoneRows rows={4} />
        )}
      </div>
      {documents && <OpenDocument companyId={companyId} documents={documents} />}
    </>
  )
}

type Props = { companyId: number; documents: CompanyDocument[] }

function DocumentTable({ companyId, documents }: Props) {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('settings.change')
  const [deleted, setDeleted] = useState<CompanyDocument>()
  const number = table.number
  const columns: Column<CompanyDocument>[] = [
    { id: 'name', head: say('documents.document'), card: table.title, by: ({ filename }) => filename },
    { id: 'kind', head: say('documents.kind'), by: ({ kind }) => kind },
    { id: 'size', head: say('documents.size'), className: number, by: ({ sizeBytes }) => sizeBytes },
    { id: 'since', head: say('documents.since'), className: number, by: ({ createdAt }) => Date.parse(createdAt) },
    {
      id: 'actions',
      head: '',
      label: say(mayChange ? 'documents.actions' : 'documents.download'),
      className: table.actions,
    },
  ]
  return (
    <>
      <ListTable name="documents" className={`${table.table} ${styles.table}`} columns={columns} rows={documents}>
        {document => (
          <DocumentRow key={document.id} document={document}>
            <DownloadLink companyId={companyId} document={document} />
            {mayChange && <DeleteButton document={document} onClick={() => setDeleted(document)} />}
          </DocumentRow>
        )}
      </ListTable>
      {deleted && <DeleteDialog companyId={companyId} document={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  )
}

function DocumentRow({ document, children }: { document: CompanyDocument; children: ReactNode }) {
  const { date } = useFormats()
  const sizeOf = useSizes()
  return (
    <tr>
      <Cell of="name">
        <Link to="/documents" search={before => ({ ...before, open: document.id })} className={styles.name}>
          <Icon name="doc" />
          <span className={table.main}>{document.filename}</span>
        </Link>
      </Cell>
      <Cell of="kind">{document.kind.toUpperCase()}</Cell>
      <Cell of="size">{sizeOf(document.sizeBytes)}</Cell>
      <Cell of="since">{date(document.createdAt)}</Cell>
      <Cell of="actions">{children}</Cell>
    </tr>
  )
}

function DownloadLink({ companyId, document }: { companyId: number; document: CompanyDocument }) {
  const { say } = useWords()
  return (
    <a
      className={styles.download}
      href={addressOf(companyId, document, true)}
      aria-label={say('documents.downloadOf', { name: document.filename })}
    >
      <Icon name="download" />
    </a>
  )
}

function DeleteButton({ document: { filename, isUsed }, onClick }: { document: CompanyDocument; onClick(): void }) {
  const { say } = useWords()
  return (
    <UnstyledButton
      className={styles.download}
      aria-label={say('documents.deleteOf', { name: filename })}
      title={isUsed ? say('documents.used') : say('documents.delete')}
      disabled={isUsed}
      onClick={onClick}
    >
      <Icon name="cross" />
    </UnstyledButton>
  )
}

type DeleteProps = { companyId: number; document: CompanyDocument; onClose(): void }

function DeleteDialog({ companyId, document: { id, filename: name }, onClose }: DeleteProps) {
  const { say } = useWords()
  return (
    <ConfirmDialog
      title={say('documents.delete.title', { name })}
      text={say('documents.delete.text')}
      submit={say('documents.delete')}
      isDangerous
      change={() => ask<void>('DELETE', `/documents/${id}?companyId=${companyId}`)}
      stale={[documentsQuery(companyId).queryKey]}
      done={say('documents.deleted', { name })}
      onClose={onClose}
    />
  )
}

/** Shows the document that the URL names in a dialog. */
function OpenDocument({ companyId, documents }: Props) {
  const { say } = useWords()
  const { open } = useSearch({ from: '/shell/documents' })
  const navigate = useNavigate()
  const document = documents.find(({ id }) => id === open)
  if (!document) return null
  return (
    <Modal
      opened
      size={960}
      title={document.filename}
      onClose={() => void navigate({ to: '/documents', search: before => ({ ...before, open: undefined }) })}
      closeButtonProps={{ 'aria-label': say('app.close') }}
      classNames={{ title: styles.viewTitle ?? '' }}
    >
      <DocumentView companyId={companyId} document={document} />
      <div className={styles.viewActions}>
        <Button component="a" href={addressOf(companyId, document)} target="_blank" rel="noreferrer">
          {say('documents.newTab')}
        </Button>
        <Button
          component="a"
          href={addressOf(companyId, document, true)}
          variant="filled"
          leftSection={<Icon name="download" />}
        >
          {say('documents.download')}
        </Button>
      </div>
    </Modal>
  )
}
