import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import type { Column } from '../parts/lists/columns.ts'
import { Cell, ListTable } from '../parts/lists/list-table.tsx'
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
  const columns: Column<Template>[] = [
    { id: 'text', head: say('templates.text'), card: `${table.title} ${styles.text}`, isKept: true },
    { id: 'state', head: say('senders.state'), card: table.corner },
    { id: 'type', head: say('templates.type') },
    { id: 'sender', head: say('templates.sender') },
    { id: 'requested', head: say('review.history.DRAFT'), className: table.number },
  ]
  return (
    <ListTable
      name="templates"
      className={`${table.table} ${styles.list}`}
      columns={columns}
      rows={templates}
      canChoose
    >
      {template => (
        <tr key={template.templateId}>
          <Cell of="text">
            <Link to="/templates/$templateId" params={{ templateId: template.templateId }} search={{}}>
              <PatternText pattern={template.pattern} />
            </Link>
            {template.status === 'REJECTED' && template.comment && (
              <span className={styles.said}>{template.comment}</span>
            )}
          </Cell>
          <Cell of="state">
            <ReviewState status={template.status} />
          </Cell>
          <Cell of="type">{say(`templates.type.${template.templateType}`)}</Cell>
          <Cell of="sender">
            {template.senderName ?? <span className={table.dim}>{say('templates.anyName')}</span>}
            <span className={table.sub}>{channel(template.channelType)}</span>
          </Cell>
          <Cell of="requested">{date(template.createdAt)}</Cell>
        </tr>
      )}
    </ListTable>
  )
}
