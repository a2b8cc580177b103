import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { TemplateChangeForm } from '../../../src/http/cabinet/senders/templates.ts'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import columns from '../parts/content/columns.module.css'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Section } from '../parts/content/section.tsx'
import { useKept } from '../parts/forms/kept-form.ts'
import { BoneRows } from '../parts/lists/bones.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead, usePageTitle } from '../parts/pages/page-head.tsx'
import { ReviewHistory } from '../parts/review/review-history.tsx'
import { ReviewState } from '../parts/review/review-state.tsx'
import { EndDialog } from '../senders/end-dialog.tsx'
import { RefusalBand } from '../senders/refusal-band.tsx'
import head from '../senders/sender-page.module.css'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { useTemplateChange } from './changes.ts'
import styles from './pattern.module.css'
import { PatternText } from './pattern-text.tsx'
import { PatternTrial } from './pattern-trial.tsx'
import { TemplateForm } from './template-form.tsx'
import { type TemplatePageData, templateQuery } from './templates.ts'

/** One template: its text, its review status, the comments, and a matching example. */
export function TemplatePage() {
  return <OneCompany>{companyId => <Loaded companyId={companyId} />}</OneCompany>
}

function Loaded({ companyId }: { companyId: number }) {
  const { templateId } = useParams({ from: '/shell/templates/$templateId' })
  const { edit } = useSearch({ from: '/shell/templates/$templateId' })
  const { data, error, refetch } = useQuery(templateQuery(companyId, templateId))
  const mayChange = useMe().rights.includes('settings.change')
  if (!data) return error ? <ErrorState level={1} error={error} onRetry={refetch} /> : <BoneRows rows={6} />
  if (edit && mayChange && data.changeable.includes('pattern'))
    return <EditTemplate companyId={companyId} template={data} />
  return <Template companyId={companyId} template={data} mayChange={mayChange} />
}

type Props = { companyId: number; template: TemplatePageData }

const useChange = ({ companyId, template: { templateId } }: Props, done: (form: TemplateChangeForm) => string) =>
  useTemplateChange(
    (form: TemplateChangeForm) => ask<void>('PATCH', `/templates/${templateId}?companyId=${companyId}`, form),
    done,
  )

/** The form keeps its first values, so that it reports a change by another person instead of overwriting it. */
function EditTemplate({ companyId, template: now }: Props) {
  const { say } = useWords()
  const [template] = useState(now)
  const navigate = useNavigate()
  const { templateId, status, version, channelType, templateType, pattern, senderId, content } = template
  const isBack = status === 'REJECTED'
  const change = useChange({ companyId, template }, () => say(isBack ? 'template.mend.done' : 'template.edit.done'))
  const kept = useKept('edit', { channelType, templateType, pattern, senderId, content })
  const leave = () => void navigate({ to: '/templates/$templateId', params: { templateId }, search: {} })
  return (
    <>
      <PageHead title={say('template.edit.title', { id: String(templateId) })} />
      <Refusal template={template} />
      <TemplateForm
        companyId={companyId}
        kept={kept}
        isNew={false}
        submit={say(isBack ? 'sender.mend.submit' : 'sender.edit.submit')}
        isBusy={change.isPending}
        error={change.error}
        onSubmit={({ channelType: _, ...form }) =>
          change.mutate(
            { version, ...form },
            {
              onSuccess: () => {
                kept.forget()
                leave()
              },
            },
          )
        }
        onCancel={leave}
      />
    </>
  )
}

function Template({ companyId, template, mayChange }: Props & { mayChange: boolean }) {
  const { say } = useWords()
  const { date } = useFormats()
  const { channel } = useTrafficNames()
  const title = say('template.title', { id: String(template.templateId) })
  usePageTitle(title)
  return (
    <>
      <div className={head.head}>
        <div className={head.names}>
          <div className={head.title}>
            <h1>{title}</h1>
            <ReviewState status={template.status} isPill />
          </div>
          <p className="note">
            {[channel(template.channelType), say('sender.requested', { time: date(template.createdAt) })].join(' · ')}
          </p>
        </div>
        {mayChange && <Actions companyId={companyId} template={template} />}
      </div>
      <Refusal template={template} />
      <div className={columns.columns}>
        <div>
          <Section title={say('templates.text')}>
            <p className={styles.bubble}>
              <PatternText pattern={template.pattern} />
            </p>
          </Section>
          <Section title={say('review.history')}>
            <ReviewHistory items={template.history} />
          </Section>
        </div>
        <div className={columns.aside}>
          <Section title={say('sender.facts')}>
            <Pairs>
              <Pair name={say('templates.type')}>{say(`templates.type.${template.templateType}`)}</Pair>
              <Pair name={say('templates.sender')}>{template.senderName ?? say('templates.anyName')}</Pair>
              <Pair name={say('sender.from')}>{date(template.dateFrom)}</Pair>
              <Pair name={say('sender.until')}>
                {template.dateTo ? date(template.dateTo) : say('sender.unlimited')}
              </Pair>
              {template.content && (
                <Pair name={say('templates.form.content.name')}>
                  {template.content.name}, {template.content.language}
                </Pair>
              )}
            </Pairs>
          </Section>
          <PatternTrial pattern={template.pattern} />
        </div>
      </div>
    </>
  )
}

function Actions({ companyId, template }: Props) {
  const { say } = useWords()
  const [isWithdrawing, setIsWithdrawing] = useState(false)
  const { templateId, status, changeable } = template
  const isBack = status === 'REJECTED'
  return (
    <div className={head.actions}>
      {changeable.includes('pattern') && (
        <Button
          variant={isBack ? 'filled' : 'default'}
          renderRoot={props => (
            <Link {...props} to="/templates/$templateId" params={{ templateId }} search={{ edit: true }} />
          )}
        >
          {say(isBack ? 'template.mend' : 'template.edit')}
        </Button>
      )}
      {changeable.includes('dateTo') && !isBack && (
        <Button onClick={() => setIsWithdrawing(true)}>{say('template.withdraw')}</Button>
      )}
      {isWithdrawing && (
        <WithdrawDialog companyId={companyId} template={template} onClose={() => setIsWithdrawing(false)} />
      )}
    </div>
  )
}

function WithdrawDialog({ companyId, template, onClose }: Props & { onClose(): void }) {
  const { say } = useWords()
  const { date } = useFormats()
  const change = useChange({ companyId, template }, ({ dateTo }) =>
    say('template.withdraw.done', { day: date(dateTo!) }),
  )
  return (
    <EndDialog
      title={say('template.withdraw.title')}
      text={say('template.withdraw.text')}
      submit={say('template.withdraw')}
      version={template.version}
      change={change}
      onClose={onClose}
    />
  )
}

function Refusal({ template }: { template: TemplatePageData }) {
  const { say } = useWords()
  return <RefusalBand of={template} denied={say('template.denied')} whatNext={say('template.back.text')} />
}
