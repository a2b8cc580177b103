import { useNavigate, useSearch } from '@tanstack/react-router'
import type { MadeAnswer, NewNameForm } from '../../../src/http/cabinet/senders/senders.ts'
import { ask } from '../api.ts'
import { useKept } from '../parts/forms/kept-form.ts'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import { useSenderChange } from './changes.ts'
import { emptyDraft, type SenderDraft, SenderForm } from './sender-form.tsx'

/** A new request. The address may contain the name and a missing operator. */
export function NewSenderPage() {
  const { say } = useWords()
  return (
    <>
      <PageHead title={say('senders.new.title')} note={say('senders.new.note')} />
      <OneCompany>{companyId => <NewSender key={companyId} companyId={companyId} />}</OneCompany>
    </>
  )
}

function NewSender({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const navigate = useNavigate()
  const { name, brand, type } = useSearch({ from: '/shell/senders/new' })
  const request = useSenderChange(
    (draft: SenderDraft) => ask<MadeAnswer>('POST', `/senders?companyId=${companyId}`, formOf(draft)),
    ({ channelType, brands }) => say('senders.new.done', { count: channelType === 'SMS' ? brands.length : 1 }),
  )
  const kept = useKept(`request ${name} ${brand} ${type}`, {
    ...emptyDraft,
    senderName: name ?? '',
    brands: brand ? [brand] : emptyDraft.brands,
    commonType: type ?? emptyDraft.commonType,
  })
  const goToList = () => void navigate({ to: '/senders', search: {} })
  return (
    <SenderForm
      companyId={companyId}
      kept={kept}
      isNew
      submit={say('senders.new.submit')}
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

const formOf = ({ documents, senderName, ...draft }: SenderDraft): NewNameForm => ({
  ...draft,
  senderName: senderName.trim(),
  documentIds: documents.map(({ id }) => id),
})
