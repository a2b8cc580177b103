import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import chart from '../parts/charts/chart.module.css'
import { Icon } from '../parts/content/icon.tsx'
import { Section } from '../parts/content/section.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { OneCompany } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { Blocked } from './results/blocked.tsx'
import { ByChannel, ByCountry } from './results/breakdown.tsx'
import { VerificationFigures } from './results/conversion-figures.tsx'
import { Filters } from './results/filters.tsx'
import { Funnel } from './results/funnel.tsx'
import { VerifierList, WidgetList } from './results/lists.tsx'
import styles from './verification.module.css'
import { useVerificationSearch, type Verification, verificationQuery } from './verification.ts'

const DaysChart = lazy(() => import('./results/days-chart.tsx'))

/** The results of codes, the verifiers and widgets that send them, and the blocked subjects. */
export function VerificationPage() {
  const { say } = useWords()
  return (
    <OneCompany title={say('verification.title')}>
      {companyId => <OfCompany key={companyId} companyId={companyId} />}
    </OneCompany>
  )
}

function OfCompany({ companyId }: { companyId: number }) {
  const { filter } = useVerificationSearch()
  const { data, error, refetch } = useQuery(verificationQuery(companyId, filter))
  const mayChange = useMe().rights.includes('settings.change')
  return (
    <>
      <Head data={data} mayChange={mayChange} />
      {data ? (
        <>
          <Filters data={data} />
          <VerificationFigures data={data} />
          <Conversion data={data} />
          <VerifierList data={data} />
          <WidgetList data={data} />
          <Blocked companyId={companyId} mayChange={mayChange} />
        </>
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={8} />
      )}
    </>
  )
}

function Head({ data, mayChange }: { data: Verification | undefined; mayChange: boolean }) {
  const { say } = useWords()
  const counts = data && {
    verifiers: say('verification.verifiers.count', { count: data.verifiers.length }),
    widgets: say('verification.widgets.count', { count: data.widgets.length }),
  }
  const actions = (
    <>
      <Button renderRoot={props => <Link {...props} to="/verification/verifiers/$id" params={{ id: 'new' }} />}>
        {say('verification.newVerifier')}
      </Button>
      <Button
        variant="filled"
        leftSection={<Icon name="plus" />}
        renderRoot={props => <Link {...props} to="/verification/widgets/$id" params={{ id: 'new' }} />}
      >
        {say('verification.newWidget')}
      </Button>
    </>
  )
  return (
    <PageHead
      title={say('verification.title')}
      note={counts ? say('verification.note', counts) : ' '}
      actions={mayChange && actions}
    />
  )
}

function Conversion({ data }: { data: Verification }) {
  const { say } = useWords()
  return (
    <>
      <div className={styles.withAside}>
        <Section
          title={say('verification.chart')}
          note={say('verification.chart.note')}
          end={
            <div className={`${chart.legend} ${styles.legend}`}>
              <span>
                <i className={styles.confirmed} />
                {say('verification.chart.confirmed')}
              </span>
              <span>
                <i className={styles.sentOnly} />
                {say('verification.chart.sentOnly')}
              </span>
            </div>
          }
        >
          <Suspense fallback={<div className={styles.chartBox} />}>
            <DaysChart days={data.byDay} />
          </Suspense>
        </Section>
        <Section title={say('verification.funnel')}>
          <Funnel total={data.total} />
        </Section>
      </div>
      {data.total.sent > 0 && (
        <div className={styles.halves}>
          <ByCountry data={data} />
          <ByChannel data={data} />
        </div>
      )}
    </>
  )
}
