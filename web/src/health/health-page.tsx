import { queryOptions, useQuery } from '@tanstack/react-query'
import type { HealthAnswer } from '../../../src/http/cabinet/service/health.ts'
import { ask, type Wire } from '../api.ts'
import { Section } from '../parts/content/section.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import { Checks } from './checks.tsx'
import { Processes } from './processes.tsx'

export type Health = Wire<HealthAnswer>

const REFRESH_MS = 5000

const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: () => ask<HealthAnswer>('GET', '/health'),
  refetchInterval: REFRESH_MS,
})

/** How every process and the database are doing, and what to do where something is wrong. */
export function HealthPage() {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(healthQuery)
  return (
    <>
      <PageHead title={say('health.title')} note={data ? <Summary health={data} /> : ' '} />
      {data ? (
        <>
          <Section title={say('health.processes')}>
            {data.processes ? (
              <Processes processes={data.processes} at={data.at} />
            ) : (
              <p className="note">{say('health.processes.unknown')}</p>
            )}
          </Section>
          <Section title={say('health.checks')}>
            <Checks checks={data.checks} />
          </Section>
        </>
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
    </>
  )
}
HealthPage.firstQueries = () => [healthQuery]

function Summary({ health: { processes, checks } }: { health: Health }) {
  const { say } = useWords()
  const troubles = [...(processes ?? []), ...checks].filter(({ level }) => level !== 'ok').length
  return troubles === 0 ? say('health.note.ok') : say('health.note.look', { count: troubles })
}
