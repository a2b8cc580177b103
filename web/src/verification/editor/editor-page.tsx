import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { MadeAnswer } from '../../../../src/http/cabinet/verification/verifiers.ts'
import { ask } from '../../api.ts'
import { Icon } from '../../parts/content/icon.tsx'
import notice from '../../parts/content/notice.module.css'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { useKept } from '../../parts/forms/kept-form.ts'
import { UnsavedForm } from '../../parts/forms/unsaved-form.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { OneCompany } from '../../parts/pages/one-company.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import {
  type KindPath,
  type Offer,
  offerQuery,
  queryOf,
  VERIFICATION,
  type VerifierDetails,
  verifierQuery,
} from '../verification.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { changedParts, type Draft, draftOf, formOf, newDraft } from './draft.ts'
import { refusalOf } from './refusals.ts'
import { SettingsForm } from './settings-form.tsx'
import { TryDialog } from './try-dialog.tsx'

const NEW = 'new'

export function VerifierPage() {
  const { id } = useParams({ from: '/shell/verification/verifiers/$id' })
  return <EditorPage key={id} kind="verifiers" id={id} />
}

export function WidgetPage() {
  const { id } = useParams({ from: '/shell/verification/widgets/$id' })
  return <EditorPage key={id} kind="widgets" id={id} />
}

type Which = { kind: KindPath; id: string }

/** All settings of a new or an existing verifier or widget. */
function EditorPage({ kind, id }: Which) {
  if (id === NEW)
    return <OneCompany>{companyId => <NewOne key={companyId} kind={kind} companyId={companyId} />}</OneCompany>
  return <ExistingOne kind={kind} id={id} />
}

function NewOne({ kind, companyId }: { kind: KindPath; companyId: number }) {
  const { say } = useWords()
  const { data: offer, error, refetch } = useQuery(offerQuery(companyId))
  const isWidget = kind === 'widgets'
  return (
    <>
      <BackLink />
      <PageHead
        title={isWidget ? say('verification.new.widget') : say('verification.new.verifier')}
        note={isWidget ? say('verification.new.widget.note') : say('verification.new.verifier.note')}
      />
      {offer ? (
        <Editor kind={kind} companyId={companyId} offer={offer} before={newDraft(offer, isWidget)} />
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={8} />
      )}
    </>
  )
}

function ExistingOne({ kind, id }: Which) {
  const { say } = useWords()
  const { rights } = useMe()
  const saved = useQuery(verifierQuery(kind, id))
  const companyId = saved.data?.companyId
  const offer = useQuery({ ...offerQuery(companyId ?? 0), enabled: companyId !== undefined })
  const [dialog, setDialog] = useState<'try' | 'delete'>()
  const error = saved.error ?? offer.error
  const mayChange = rights.includes('settings.change')
  const mayTry = mayChange && rights.includes('traffic.send')
  const actions = saved.data && (
    <>
      {mayChange && <Button onClick={() => setDialog('delete')}>{say('verification.delete')}</Button>}
      {mayTry && <Button onClick={() => setDialog('try')}>{say('verification.try')}</Button>}
    </>
  )
  const retry = () => void (saved.error ? saved.refetch() : offer.refetch())
  if (error && !saved.data) return <ErrorState level={1} error={error} onRetry={retry} />
  return (
    <>
      <BackLink />
      <PageHead
        title={saved.data?.name ?? ' '}
        note={saved.data ? <span className="mono">{say('verification.id', { id })}</span> : ' '}
        actions={actions}
      />
      {saved.data && offer.data ? (
        <Editor
          key={saved.data.version}
          kind={kind}
          companyId={saved.data.companyId}
          offer={offer.data}
          before={draftOf(saved.data)}
          saved={saved.data}
        />
      ) : error ? (
        <ErrorState error={error} onRetry={retry} />
      ) : (
        <BoneRows rows={8} />
      )}
      {dialog === 'try' && saved.data && (
        <TryDialog kind={kind} saved={saved.data} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'delete' && saved.data && (
        <DeleteDialog kind={kind} saved={saved.data} onClose={() => setDialog(undefined)} />
      )}
    </>
  )
}

function BackLink() {
  const { say } = useWords()
  return (
    <Link to="/verification" className={`link ${styles.back}`}>
      <Icon name="back" />
      {say('verification.back')}
    </Link>
  )
}

type EditorProps = { kind: KindPath; companyId: number; offer: Offer; before: Draft; saved?: VerifierDetails }

function Editor({ kind, companyId, offer, before, saved }: EditorProps) {
  const words = useWords()
  const { say } = words
  const kept = useKept(kind, before, { secrets: ['captchaSecret'] })
  const { draft, change } = kept
  const mayChange = useMe().rights.includes('settings.change')
  const save = useSave({ kind, companyId, saved }, kept.forget)
  const refusal = save.isError ? refusalOf(words, save.error) : undefined
  useEffect(() => {
    if (refusal?.setting) document.querySelector('[aria-invalid="true"]')?.scrollIntoView({ block: 'center' })
  }, [refusal?.setting])
  const form = {
    draft,
    change,
    setting: (changed: Partial<Draft['settings']>) =>
      change(({ settings }) => ({ settings: { ...settings, ...changed } })),
    wrong: (setting: string) => (refusal?.setting === setting ? refusal.text : undefined),
  }
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        save.mutate(draft)
      }}
    >
      <UnsavedForm kept={kept} />
      {!mayChange && <p className="note">{say('verification.readOnly')}</p>}
      <div className={styles.parts}>
        <SettingsForm form={form} offer={offer} saved={saved} mayChange={mayChange} />
      </div>
      {mayChange && (
        <SaveBar
          kind={kind}
          isNew={saved === undefined}
          unsaved={changedParts(before, draft).map(part => say(`verification.field.${part}`))}
          isBusy={save.isPending}
          onDiscard={() => {
            kept.startAgain()
            save.reset()
          }}
        >
          {saved && refusal?.isMeanwhile ? (
            <NewerSettingsNotice kind={kind} id={saved.id} onReload={kept.forget} />
          ) : (
            refusal && <FormProblem>{refusal.setting ? say('verification.wrong') : refusal.text}</FormProblem>
          )}
        </SaveBar>
      )}
    </form>
  )
}

function useSave({ kind, companyId, saved }: Pick<EditorProps, 'kind' | 'companyId' | 'saved'>, onSaved: () => void) {
  const { say } = useWords()
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (draft: Draft) =>
      saved
        ? ask<MadeAnswer>('PUT', `/verification/${kind}/${saved.id}`, { ...formOf(draft), version: saved.version })
        : ask<MadeAnswer>('POST', `/verification/${kind}?${queryOf({ companyId })}`, formOf(draft)),
    onSuccess: async ({ id }, draft) => {
      onSaved()
      await client.invalidateQueries({ queryKey: VERIFICATION })
      tellDone(saved ? say('verification.saved') : say('verification.made', { name: draft.name.trim() }))
      if (!saved) await navigate({ to: `/verification/${kind}/$id`, params: { id } })
    },
  })
}

type BarProps = {
  kind: KindPath
  isNew: boolean
  unsaved: string[]
  isBusy: boolean
  onDiscard(): void
  children: React.ReactNode
}

/** Stays visible while the form has unsaved changes. */
function SaveBar({ kind, isNew, unsaved, isBusy, onDiscard, children }: BarProps) {
  const { say } = useWords()
  if (!isNew && unsaved.length === 0 && !children) return null
  const create = kind === 'widgets' ? say('verification.create.widget') : say('verification.create.verifier')
  return (
    <div className={styles.bar}>
      {children}
      <div className={styles.barLine}>
        <Button type="submit" variant="filled" loading={isBusy}>
          {isNew ? create : say('app.save')}
        </Button>
        {!isNew && <Button onClick={onDiscard}>{say('verification.discard')}</Button>}
        {!isNew && unsaved.length > 0 && (
          <span className="note small">{say('verification.unsaved', { fields: unsaved.join(', ') })}</span>
        )}
      </div>
    </div>
  )
}

/** Another person changed the settings meanwhile. A button replaces the typed values by the newer settings. */
function NewerSettingsNotice({ kind, id, onReload }: Which & { onReload(): void }) {
  const { say } = useWords()
  const client = useQueryClient()
  const reload = () => {
    onReload()
    void client.invalidateQueries({ queryKey: verifierQuery(kind, id).queryKey })
  }
  return (
    <div role="alert" className={notice.notice}>
      <Icon name="warn" />
      <p>{say('verification.meanwhile')}</p>
      <Button onClick={reload}>{say('verification.reload')}</Button>
    </div>
  )
}
