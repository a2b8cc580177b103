import { useQuery } from '@tanstack/react-query'
import { Section } from '../parts/content/section.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useWords } from '../words/words.ts'
import { Checks } from './checks.tsx'
import { type Health, healthQuery } from './health.ts'
import { Processes } from './processes.tsx'

/** The state of every process and of the database, with advice for each problem. */
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

function Summary({ health: { processes, checks } }: { health: Health }) {
  const { say } = useWords()
  const troubles = [...(processes ?? []), ...checks].filter(({ level }) => level !== 'ok').length
  return troubles === 0 ? say('health.note.ok') : say('health.note.look', { count: troubles })
}
