import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import { DayBars } from '../parts/charts/day-bars.tsx'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { CopyField } from '../parts/forms/copy-field.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { linkQuery } from './links.ts'
import { ClickCount, MessageOf } from './links-table.tsx'

/** One short link: its target, its message, and its clicks by day. */
export function LinkDialog({ companyId, code, onClose }: { companyId: number; code: string; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const { moment } = useFormats()
  const { data, error } = useQuery(linkQuery(companyId, code))
  return (
    <Dialog title={say('links.one')} close={say('app.close')} onClose={onClose}>
      {error && <FormProblem>{describeProblem(words, error)}</FormProblem>}
      {!data && !error && <Skeleton height={240} />}
      {data && (
        <>
          <CopyField label={say('links.short')} value={data.shortUrl} />
          <Pairs>
            <Pair name={say('links.target')}>{data.url}</Pair>
            <Pair name={say('links.message')}>
              <MessageOf link={data} />
            </Pair>
            {data.dispatchId !== null && (
              <Pair name={say('links.dispatch')}>
                <Link to="/dispatches/$dispatchId" params={{ dispatchId: data.dispatchId }} className="link">
                  {data.dispatchName}
                </Link>
              </Pair>
            )}
            <Pair name={say('links.made')}>{moment(data.createdAt)}</Pair>
            <Pair name={say('links.clicks')}>
              <ClickCount link={data} />
            </Pair>
          </Pairs>
          <DayBars
            label={say('links.clicks.oneLabel')}
            heads={[say('links.day'), say('links.clicks')]}
            days={data.days.map(({ day, clicks }) => ({ day, value: clicks }))}
          />
        </>
      )}
    </Dialog>
  )
}
