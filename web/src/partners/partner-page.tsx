import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import companyStyles from '../companies/companies.module.css'
import { listQuery } from '../companies/companies.ts'
import { CompanyTable } from '../companies/company-table.tsx'
import { useWithFailures } from '../companies/failures.ts'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import { Section } from '../parts/content/section.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { InviteButton, InviteDialog } from '../people/invite-dialog.tsx'
import { PartnerOfPeople, peopleQuery, usePeoplePath } from '../people/people.ts'
import { PeopleTable } from '../people/people-table.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { NewPasswordDialog, StateDialog, UnlockDialog } from './partner-dialogs.tsx'
import { PartnerState } from './partner-state.tsx'
import { type Partner, partnerQuery } from './partners.ts'

type Task = 'password' | 'state' | 'unlock'

/** One partner: its state, its companies and its people. */
export function PartnerPage() {
  const { partnerId } = useParams({ from: '/shell/partners/$partnerId' })
  const { data, error, refetch } = useQuery(partnerQuery(partnerId))
  if (error && !data) return <ErrorState level={1} error={error} onRetry={refetch} />
  return data ? <Content partner={data} /> : <BoneRows rows={6} />
}

function Content({ partner }: { partner: Partner }) {
  const { say } = useWords()
  const { date } = useFormats()
  const { rights } = useMe()
  const [task, setTask] = useState<Task>()
  const close = () => setTask(undefined)
  return (
    <>
      <PageHead
        title={partner.login}
        note={
          <span className={companyStyles.headNote}>
            <PartnerState partner={partner} isPill />
            <span>{say('partners.id', { id: String(partner.partnerId) })}</span>
            <span>{say('partners.sinceDay', { date: date(partner.createdAt) })}</span>
          </span>
        }
        actions={rights.includes('partners.change') && <Actions partner={partner} onTask={setTask} />}
      />
      <CompaniesSection partner={partner} />
      {rights.includes('people.see') && <PeopleSection partner={partner} />}
      {task === 'password' && <NewPasswordDialog partner={partner} onClose={close} />}
      {task === 'state' && <StateDialog partner={partner} onClose={close} />}
      {task === 'unlock' && <UnlockDialog partner={partner} onClose={close} />}
    </>
  )
}

function Actions({ partner: { isActive, isLocked }, onTask }: { partner: Partner; onTask(task: Task): void }) {
  const { say } = useWords()
  return (
    <>
      {isLocked && <Button onClick={() => onTask('unlock')}>{say('partners.unlock')}</Button>}
      <Button leftSection={<Icon name="key" />} onClick={() => onTask('password')}>
        {say('partners.renew')}
      </Button>
      <Button leftSection={<Icon name={isActive ? 'slash' : 'replay'} />} onClick={() => onTask('state')}>
        {say(isActive ? 'partners.disable' : 'partners.enable')}
      </Button>
    </>
  )
}

/** The first companies by name, with a link to the list of all. */
function CompaniesSection({ partner: { partnerId, companies } }: { partner: Partner }) {
  const { say } = useWords()
  const withFailures = useWithFailures()
  const [places, setPlaces] = useState<number[]>([])
  const { data, error, refetch } = useQuery(listQuery({ partnerId, after: places.at(-1) }))
  return (
    <Section title={say('partners.companies')} note={String(companies)}>
      {data ? (
        data.items.length > 0 ? (
          <CompanyTable companies={data.items.map(withFailures)} zone={data.zone} at={data.at} isOfOne />
        ) : (
          <p className="note">{say('partners.noCompanies')}</p>
        )
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={3} />
      )}
      {data && (places.length > 0 || data.hasAfter) && (
        <div className={companyStyles.pages}>
          {places.length > 0 && (
            <Button leftSection={<Icon name="back" />} onClick={() => setPlaces(places.slice(0, -1))}>
              {say('companies.before')}
            </Button>
          )}
          {data.hasAfter && (
            <Button
              rightSection={<Icon name="right" />}
              onClick={() => setPlaces([...places, ...data.items.slice(-1).map(({ companyId }) => companyId)])}
            >
              {say('companies.after')}
            </Button>
          )}
        </div>
      )}
    </Section>
  )
}

const PeopleSection = ({ partner: { partnerId, login } }: { partner: Partner }) => (
  <PartnerOfPeople value={partnerId}>
    <PeopleOfPartner login={login} />
  </PartnerOfPeople>
)

/** The owner of a partner that is older than the cabinet becomes a person at the first sign-in. */
function PeopleOfPartner({ login }: { login: string }) {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('people.change')
  const [isInviting, setIsInviting] = useState(false)
  const { data, error, refetch } = useQuery(peopleQuery(usePeoplePath()()))
  return (
    <Section
      title={say('people.title')}
      note={data && String(data.people.length)}
      end={mayChange && <InviteButton onClick={() => setIsInviting(true)} />}
    >
      {!data ? (
        error ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : (
          <BoneRows rows={2} />
        )
      ) : (
        <>
          {data.people.length > 0 && <PeopleTable people={data.people} roles={data.roles} mayChange={mayChange} />}
          {!data.people.some(({ isApiLogin }) => isApiLogin) && (
            <p className="note">{say('partners.noOwner', { login })}</p>
          )}
        </>
      )}
      {isInviting && data && <InviteDialog roles={data.roles} onClose={() => setIsInviting(false)} />}
    </Section>
  )
}
