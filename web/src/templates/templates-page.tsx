import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import table from '../parts/lists/table.module.css'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { ReviewState } from '../parts/review/review-state.tsx'
import { RequestButton, ReviewedList } from '../parts/review/reviewed-list.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { PatternText } from './pattern-text.tsx'
import { templateStates } from './search.ts'
import { type Template, templatesQuery } from './templates.ts'
import styles from './templates-page.module.css'

/** The templates of one company. */
export function TemplatesPage() {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('settings.change')
  return (
    <>
      <PageHead
        title={say('templates.title')}
        note={say('templates.note')}
        actions={mayChange && <RequestButton to="/templates/new">{say('templates.request')}</RequestButton>}
      />
      <OneCompany>{companyId => <Templates companyId={companyId} />}</OneCompany>
    </>
  )
}

function Templates({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { company: _, ...search } = useSearch({ from: '/shell/templates' })
  const asked = useQuery(templatesQuery(companyId, search))
  return (
    <ReviewedList
      asked={asked}
      search={search}
      label={say('templates.search')}
      states={templateStates.map(state => [state, say(`review.state.${state}`)])}
      empty={{ title: say('templates.empty.title'), text: say('templates.empty.text') }}
    >
      {({ templates }) => templates.length > 0 && <TemplateTable templates={templates} />}
    </ReviewedList>
  )
}

function TemplateTable({ templates }: { templates: Template[] }) {
  const { say } = useWords()
  const { date } = useFormats()
  const { channel } = useTrafficNames()
  return (
    <table className={`${table.table} ${styles.list}`}>
      <thead>
        <tr>
          <th>{say('templates.text')}</th>
          <th>{say('senders.state')}</th>
          <th>{say('templates.type')}</th>
          <th>{say('templates.sender')}</th>
          <th className={table.number}>{say('review.history.DRAFT')}</th>
        </tr>
      </thead>
      <tbody>
        {templates.map(template => (
          <tr key={template.templateId}>
            <td className={`${table.title} ${styles.text}`}>
              <Link to="/templates/$templateId" params={{ templateId: template.templateId }} search={{}}>
                <PatternText pattern={template.pattern} />
              </Link>
              {template.status === 'REJECTED' && template.comment && (
                <span className={styles.said}>{template.comment}</span>
              )}
            </td>
            <td className={table.corner}>
              <ReviewState status={template.status} />
            </td>
            <td data-label={say('templates.type')}>{say(`templates.type.${template.templateType}`)}</td>
            <td data-label={say('templates.sender')}>
              {template.senderName ?? <span className={table.dim}>{say('templates.anyName')}</span>}
              <span className={table.sub}>{channel(template.channelType)}</span>
            </td>
            <td className={table.number} data-label={say('review.history.DRAFT')}>
              {date(template.createdAt)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
