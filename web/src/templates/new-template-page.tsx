import { useNavigate } from '@tanstack/react-router'
import type { MadeTemplate } from '../../../src/http/cabinet/senders/templates.ts'
import { ask } from '../api.ts'
import { useKept } from '../parts/forms/kept-form.ts'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import { useTemplateChange } from './changes.ts'
import { emptyDraft, type TemplateDraft, TemplateForm } from './template-form.tsx'

export function NewTemplatePage() {
  const { say } = useWords()
  return (
    <>
      <PageHead title={say('templates.request')} note={say('templates.new.note')} />
      <OneCompany>{companyId => <NewTemplate key={companyId} companyId={companyId} />}</OneCompany>
    </>
  )
}

function NewTemplate({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const navigate = useNavigate()
  const request = useTemplateChange(
    (draft: TemplateDraft) => ask<MadeTemplate>('POST', `/templates?companyId=${companyId}`, draft),
    () => say('templates.new.done'),
  )
  const kept = useKept('request', emptyDraft)
  const goToList = () => void navigate({ to: '/templates', search: {} })
  return (
    <TemplateForm
      companyId={companyId}
      kept={kept}
      isNew
      submit={say('templates.new.submit')}
      isBusy={request.isPending}
      error={request.error}
      onSubmit={draft =>
        request.mutate(draft, {
          onSuccess: () => {
            kept.forget()
            goToList()
          },
        })
      }
      onCancel={goToList}
    />
  )
}
