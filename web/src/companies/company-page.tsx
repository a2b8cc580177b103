import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { documentsQuery } from '../documents/documents.ts'
import { useFormats } from '../format.ts'
import { AttentionList } from '../overview/attention.tsx'
import { useClock } from '../overview/clock.ts'
import { overviewQuery } from '../overview/overview.ts'
import columns from '../parts/content/columns.module.css'
import { Icon } from '../parts/content/icon.tsx'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Section } from '../parts/content/section.tsx'
import { Status } from '../parts/content/status.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { PageLink } from '../parts/pages/page-link.tsx'
import { peopleQuery } from '../people/people.ts'
import { nameOf, useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { BudgetBar } from './budget-bar.tsx'
import styles from './companies.module.css'
import { type CompanyDetails, companyQuery } from './companies.ts'
import { EditDialog, LimitsDialog, StatusDialog } from './company-dialogs.tsx'
import { DisabledState } from './company-state.tsx'

type Task = 'edit' | 'limits' | 'status'

/** One company: its money, the problems that need attention, its people, documents and settings. */
export function CompanyPage() {
  const { companyId } = useParams({ from: '/shell/companies/$companyId' })
  const { data, error, refetch } = useQuery(companyQuery(companyId))
  if (error && !data) return <ErrorState level={1} error={error} onRetry={refetch} />
  return data ? <Content company={data} /> : <BoneRows rows={6} />
}

function Content({ company }: { company: CompanyDetails }) {
  const { say } = useWords()
  const { rights } = useMe()
  const [task, setTask] = useState<Task>()
  const close = () => setTask(undefined)
  return (
    <>
      <PageHead
        title={company.name}
        note={<HeadNote company={company} />}
        actions={rights.includes('companies.change') && <Actions company={company} onTask={setTask} />}
      />
      <div className={columns.columns}>
        <div>
          {company.account && <MoneySection company={company} account={company.account} />}
          <TodaySection company={company} />
          {rights.includes('people.see') && <PeopleSection companyId={company.companyId} />}
          <DocumentsSection companyId={company.companyId} />
        </div>
        <div className={columns.aside}>
          <NeedsAttention company={company} />
          <DetailsSection company={company} />
          <LimitsSection
            company={company}
            onChange={rights.includes('money.change') ? () => setTask('limits') : undefined}
          />
          <div className={styles.audit}>
            {rights.includes('audit.see') && (
              <PageLink to="/audit" search={{ subject: `company:${company.companyId}` }}>
                {say('companies.audit')}
              </PageLink>
            )}
          </div>
        </div>
      </div>
      {task === 'edit' && <EditDialog company={company} onClose={close} />}
      {task === 'limits' && <LimitsDialog company={company} onClose={close} />}
      {task === 'status' && <StatusDialog company={company} onClose={close} />}
    </>
  )
}

/**
 * The same lines as on the overview of the company. Until the overview is loaded, the lines of the company's own
 * answer.
 */
function NeedsAttention({ company }: { company: CompanyDetails }) {
  const { data } = useQuery(overviewQuery(company.companyId))
  return <AttentionList lines={data?.attention ?? company.attention} zone={company.zone} />
}

function HeadNote({ company: { status, companyId, partner } }: { company: CompanyDetails }) {
  const { say } = useWords()
  return (
    <span className={styles.headNote}>
      {status === 'DISABLED' ? (
        <DisabledState isPill />
      ) : (
        <Status kind="ok" isPill>
          {say('companies.status.ACTIVE')}
        </Status>
      )}
      <span>{say('companies.id', { id: String(companyId) })}</span>
      {partner && (
        <PageLink to="/partners/$partnerId" params={{ partnerId: String(partner.partnerId) }}>
          {partner.login}
        </PageLink>
      )}
    </span>
  )
}

function Actions({ company, onTask }: { company: CompanyDetails; onTask(task: Task): void }) {
  const { say } = useWords()
  const isActive = company.status === 'ACTIVE'
  return (
    <>
      <Button leftSection={<Icon name={isActive ? 'slash' : 'replay'} />} onClick={() => onTask('status')}>
        {say(isActive ? 'companies.disable' : 'companies.enable')}
      </Button>
      <Button onClick={() => onTask('edit')}>{say('companies.edit')}</Button>
    </>
  )
}

type MoneyProps = { company: CompanyDetails; account: NonNullable<CompanyDetails['account']> }

function MoneySection({ company, account }: MoneyProps) {
  const { say } = useWords()
  const { money } = useFormats()
  const { month } = useClock(company.zone)
  const { spent, reserved, balance, budget, currency, billing } = account
  const free = budget === null ? null : Math.max(0, budget - spent - reserved)
  return (
    <Section
      title={say('companies.budget', { month: month(company.at) })}
      end={<PageLink to="/money">{say('companies.money')}</PageLink>}
    >
      <BudgetBar company={company} zone={company.zone} isThick />
      <dl className={styles.figures}>
        <Figure name={say('companies.spent')}>{money(spent, currency)}</Figure>
        <Figure name={say('companies.held')}>{money(reserved, currency)}</Figure>
        {free !== null && <Figure name={say('companies.free')}>{money(free, currency)}</Figure>}
        {billing === 'PREPAID' && <Figure name={say('companies.balance')}>{money(balance, currency)}</Figure>}
      </dl>
    </Section>
  )
}

const Figure = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function TodaySection({ company: { today, running, zone } }: { company: CompanyDetails }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { share } = useClock(zone)
  const results = today.delivered + today.failed
  return (
    <Section title={say('companies.today')} end={<PageLink to="/overview">{say('companies.overview')}</PageLink>}>
      <dl className={styles.figures}>
        <Figure name={say('companies.sentOfDay')}>{number(today.sent)}</Figure>
        <Figure name={say('companies.delivered')}>{results > 0 ? share(today.delivered / results) : '–'}</Figure>
        <Figure name={say('companies.failed')}>{number(today.failed)}</Figure>
        <Figure name={say('companies.dispatches')}>{number(running)}</Figure>
      </dl>
    </Section>
  )
}

const MOST_SHOWN = 5

function PeopleSection({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('people.change')
  const { data } = useQuery(peopleQuery(`/people?companyId=${companyId}`))
  const people = data?.people
  return (
    <Section
      title={say('companies.people')}
      note={people && people.length > 0 ? String(people.length) : undefined}
      end={<PageLink to="/people">{say(mayChange ? 'companies.people.invite' : 'companies.people.all')}</PageLink>}
    >
      {!people ? (
        <BoneRows rows={2} />
      ) : people.length === 0 ? (
        <p className="note">{say('companies.people.none')}</p>
      ) : (
        <ul className={styles.rows}>
          {people.slice(0, MOST_SHOWN).map(person => (
            <li key={person.personId}>
              <span className={styles.rowName}>{nameOf(person)}</span>
              <span className={styles.rowEnd}>
                {person.isInvited ? say('people.state.invited') : say(`role.${person.role}`)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function DocumentsSection({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { date } = useFormats()
  const mayChange = useMe().rights.includes('settings.change')
  const { data } = useQuery(documentsQuery(companyId))
  const documents = data?.documents
  return (
    <Section
      title={say('documents.title')}
      note={documents && documents.length > 0 ? String(documents.length) : undefined}
      end={
        <PageLink to="/documents">{say(mayChange ? 'companies.documents.upload' : 'companies.documents.all')}</PageLink>
      }
    >
      {!documents ? (
        <BoneRows rows={2} />
      ) : documents.length === 0 ? (
        <p className="note">{say('companies.documents.none')}</p>
      ) : (
        <ul className={styles.rows}>
          {documents.slice(0, MOST_SHOWN).map(({ id, filename, createdAt }) => (
            <li key={id}>
              <Link to="/documents" search={{ company: companyId, open: id }} className={styles.rowName}>
                <Icon name="doc" />
                {filename}
              </Link>
              <span className={styles.rowEnd}>{date(createdAt)}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function DetailsSection({ company }: { company: CompanyDetails }) {
  const { say } = useWords()
  const none = <span className={styles.dim}>–</span>
  return (
    <Section title={say('companies.details')}>
      <Pairs>
        <Pair name={say('companies.field.type')}>{say(`companies.type.${company.counteragentType}`)}</Pair>
        <Pair name={say('companies.field.inn')}>{company.counteragentInn}</Pair>
        {company.counteragentType === 'LEGAL' && (
          <Pair name={say('companies.field.kpp')}>{company.counteragentKpp || none}</Pair>
        )}
        {company.counteragentName !== company.name && (
          <Pair name={say('companies.field.legalName')}>{company.counteragentName}</Pair>
        )}
        <Pair name={say('companies.field.address')}>{company.counteragentAddress || none}</Pair>
        <Pair name={say('companies.field.actualAddress')}>{company.actualAddress || none}</Pair>
      </Pairs>
    </Section>
  )
}

function LimitsSection({ company, onChange }: { company: CompanyDetails; onChange: (() => void) | undefined }) {
  const { say } = useWords()
  const { money, number } = useFormats()
  const { account, inbound, partsPerSecond } = company
  return (
    <Section
      title={say('companies.limits')}
      end={
        onChange && (
          <button type="button" className={`link ${styles.change}`} onClick={onChange}>
            {say('companies.limits.change')}
          </button>
        )
      }
    >
      <Pairs>
        {account && (
          <>
            <Pair name={say('companies.limits.budget')}>
              {account.budget === null ? say('companies.limits.none') : money(account.budget, account.currency)}
            </Pair>
            <Pair name={say('companies.billing')}>{say(`companies.billing.${account.billing}`)}</Pair>
          </>
        )}
        <Pair name={say('companies.rate')}>
          {partsPerSecond === null ? say('companies.limits.none') : number(partsPerSecond)}
        </Pair>
        <Pair name={say('companies.inbound')}>{say(inbound ? 'companies.on' : 'companies.off')}</Pair>
      </Pairs>
    </Section>
  )
}
