import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import chart from '../parts/charts/chart.module.css'
import figures from '../parts/content/figures.module.css'
import { Icon } from '../parts/content/icon.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { PageLink } from '../parts/pages/page-link.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { AttentionList } from './attention.tsx'
import { useClock, useZoneName } from './clock.ts'
import { Figures } from './figures.tsx'
import { FirstSteps } from './first-steps.tsx'
import styles from './overview.module.css'
import { type Overview, overviewQuery, useChosenCompany } from './overview.ts'
import { RunningDispatches } from './running.tsx'
import { Channels, Operators } from './ways.tsx'

/** Loaded after the figures, so that they do not wait for the chart. */
const HoursChart = lazy(() => import('./hours-chart.tsx'))

/** The current figures of the chosen company or of all companies, and the problems that need attention. */
export function OverviewPage() {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(overviewQuery(useChosenCompany()))
  return (
    <>
      <PageHead
        title={say('overview.title')}
        note={data ? <Moment overview={data} isLive={!error} /> : ' '}
        actions={data?.companies !== 0 && <NewDispatch />}
      />
      {data ? <Content overview={data} /> : error ? <ErrorState error={error} onRetry={refetch} /> : <Bones />}
    </>
  )
}

function Moment({ overview: { at, zone }, isLive }: { overview: Overview; isLive: boolean }) {
  const { say } = useWords()
  const { today, time } = useClock(zone)
  const zoneName = useZoneName()
  return (
    <>
      <span className={styles.moment}>
        {today(at)}, {time(at)} {zoneName(zone)}
      </span>{' '}
      <span className={isLive ? styles.live : styles.notLive}>
        {say(isLive ? 'overview.live' : 'overview.notLive')}
      </span>
    </>
  )
}

function NewDispatch() {
  const { say } = useWords()
  const maySend = useMe().rights.includes('traffic.send')
  return maySend ? (
    <PageLink to="/dispatches/new" className={styles.primary}>
      <Icon name="plus" />
      {say('overview.newDispatch')}
    </PageLink>
  ) : null
}

function NoCompanies() {
  const { say } = useWords()
  const mayMake = useMe().rights.includes('companies.change')
  return (
    <Blank drawing="bird" title={say('overview.noCompanies')} text={say('overview.noCompanies.text')}>
      {mayMake && (
        <PageLink to="/companies" search={{ new: true }} className={styles.primary}>
          <Icon name="plus" />
          {say('overview.newCompany')}
        </PageLink>
      )}
    </Blank>
  )
}

function Content({ overview }: { overview: Overview }) {
  const { firstSteps, attention, running, at, zone, companies } = overview
  if (companies === 0) return <NoCompanies />
  if (firstSteps)
    return (
      <div className={styles.withAside}>
        <FirstSteps steps={firstSteps} />
        {attention.length > 0 && <AttentionList lines={attention} zone={zone} />}
      </div>
    )
  return (
    <>
      <div className={styles.figures}>
        <Figures overview={overview} />
      </div>
      <div className={styles.withAside}>
        <LastHours overview={overview} />
        <AttentionList lines={attention} zone={zone} />
      </div>
      <RunningDispatches running={running} at={at} zone={zone} />
      <div className={styles.halves}>
        <Operators overview={overview} />
        <Channels overview={overview} />
      </div>
    </>
  )
}

function LastHours({ overview: { hours, zone } }: { overview: Overview }) {
  const { say } = useWords()
  return (
    <section>
      <div className={styles.head}>
        <h2>{say('overview.chart')}</h2>
        <div className={`${chart.legend} ${styles.legend}`} aria-hidden="true">
          {(['delivered', 'onTheWay', 'failed'] as const).map(status => (
            <span key={status}>
              <i className={`${styles.key} ${styles[status]}`} />
              {say(`overview.status.${status}`)}
            </span>
          ))}
        </div>
      </div>
      <Suspense fallback={<div className={styles.chartBox} />}>
        <HoursChart hours={hours} zone={zone} />
      </Suspense>
    </section>
  )
}

/** Placeholders in the shape of the page, so that nothing moves when the data arrive. */
function Bones() {
  return (
    <>
      <div className={`${styles.figures} ${figures.figures}`} aria-hidden="true">
        {[0, 1, 2, 3].map(place => (
          <div key={place}>
            <Skeleton height={10} width={96} mt={5} />
            <Skeleton height={22} width={132} mt={16} />
            <Skeleton height={8} width={116} mt={15} />
          </div>
        ))}
      </div>
      <div className={styles.withAside}>
        <section>
          <Skeleton className={styles.chartBox} mt={36} />
        </section>
        <section>
          <BoneRows />
        </section>
      </div>
    </>
  )
}
