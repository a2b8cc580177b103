import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ServerError } from '../api.ts'
import { useFormats } from '../format.ts'
import { Section } from '../parts/content/section.tsx'
import { tellDone, tellProblem } from '../parts/dialogs/toast.tsx'
import { describeFileProblem } from '../parts/forms/file-mistake.ts'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import table from '../parts/lists/table.module.css'
import { useOperatorName } from '../parts/names/operator-names.ts'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useWords } from '../words/words.ts'
import { grouped } from './brands.ts'
import styles from './numbering.module.css'
import {
  applyUpload,
  compareUpload,
  type Difference,
  exportAddress,
  NUMBERING,
  numberingQuery,
  removeUpload,
  type SourceKind,
  type Upload,
  uploadQuery,
  useNumberingSearch,
} from './numbering.ts'

/** Shows the changes that a file would make. Only the second click imports it. */
export function UploadSection({ uploadId }: { uploadId: number }) {
  const { say } = useWords()
  const { change } = useNumberingSearch()
  const { data, error, refetch } = useQuery(uploadQuery(uploadId))
  if (data) return <Shown upload={data} />
  if (!error) return <BoneRows rows={4} />
  if (!(error instanceof ServerError && error.status === 404)) return <ErrorState error={error} onRetry={refetch} />
  return (
    <Blank drawing="lost" title={say('numbering.gone.title')} text={say('numbering.gone.text')}>
      <Button onClick={() => change({ upload: undefined })}>{say('numbering.gone.again')}</Button>
    </Blank>
  )
}

function Shown({ upload }: { upload: Upload }) {
  const words = useWords()
  const { say } = words
  const { difference } = upload
  const { compare, apply, remove } = useSteps(upload)
  const changed = difference ? kinds.filter(kind => difference.changes[kind].ranges > 0) : []
  return (
    <div className={styles.upload}>
      <Section
        title={say(upload.kind === 'register' ? 'numbering.would.register' : 'numbering.would.ported')}
        note={upload.name}
      >
        {difference && <AllChanges kind={upload.kind} difference={difference} changed={changed} />}
        {changed.length > 0 && <PresentPlanLink kind={upload.kind} />}
        {apply.isError && <FormProblem>{describeFileProblem(words, apply.error)}</FormProblem>}
        {compare.isError && <FormProblem>{describeFileProblem(words, compare.error)}</FormProblem>}
        <div className={styles.actions}>
          <Expiry upload={upload} />
          <Button loading={remove.isPending} onClick={() => remove.mutate()}>
            {say('numbering.remove')}
          </Button>
          {apply.isError || !difference ? (
            <Button variant="filled" loading={compare.isPending} onClick={() => compare.mutate()}>
              {say('numbering.compareAgain')}
            </Button>
          ) : changed.length === 0 ? null : (
            <Button variant="filled" loading={apply.isPending} onClick={() => apply.mutate()}>
              {say('numbering.apply')}
            </Button>
          )}
        </div>
      </Section>
    </div>
  )
}

/** The three things that a person can do with an uploaded file: compare it again, import it, or delete it. */
function useSteps({ uploadId, version }: Upload) {
  const { say } = useWords()
  const { change } = useNumberingSearch()
  const client = useQueryClient()
  const compare = useMutation({
    mutationFn: () => compareUpload(uploadId),
    onSuccess: async compared => {
      apply.reset()
      client.setQueryData([...NUMBERING, 'upload', uploadId], compared)
      await client.invalidateQueries({ queryKey: numberingQuery.queryKey })
    },
  })
  const apply = useMutation({
    mutationFn: async () => {
      if (version === null) throw new Error('The file must be compared before it is imported')
      return applyUpload(uploadId, version)
    },
    onSuccess: async () => {
      tellDone(say('numbering.applied'))
      change({ upload: undefined })
      await client.invalidateQueries({ queryKey: NUMBERING })
    },
  })
  const remove = useMutation({
    mutationFn: () => removeUpload(uploadId),
    onSuccess: async () => {
      change({ upload: undefined })
      await client.invalidateQueries({ queryKey: numberingQuery.queryKey })
    },
    onError: tellProblem,
  })
  return { compare, apply, remove }
}

type AllChangesProps = { kind: SourceKind; difference: Difference; changed: Kind[] }

function AllChanges({ kind, difference, changed }: AllChangesProps) {
  const { say } = useWords()
  const { number } = useFormats()
  const { entries, codes, unknownRegions } = difference
  return (
    <>
      <p className="note">
        {kind === 'register'
          ? say('numbering.read.register', { count: entries, codes: number(codes) })
          : say('numbering.read.ported', { count: entries })}
      </p>
      {unknownRegions.length > 0 && (
        <p className="note">{say('numbering.unknownRegions', { names: unknownRegions.join('; ') })}</p>
      )}
      {changed.length === 0 && <p className={styles.nothing}>{say('numbering.noChanges')}</p>}
      {changed.map(one => (
        <Changes key={one} kind={one} difference={difference} isPorted={kind === 'ported'} />
      ))}
    </>
  )
}

function Expiry({ upload: { expiresAt } }: { upload: Upload }) {
  const { say } = useWords()
  const { time } = useFormats()
  return <p className="note">{say('numbering.until', { time: time(expiresAt) })}</p>
}

/** An import cannot be undone, so the page offers the present plan as a file. */
function PresentPlanLink({ kind }: { kind: SourceKind }) {
  const { say } = useWords()
  return (
    <p className={`note ${styles.wayBack}`}>
      <a className="link" href={exportAddress(kind)} download>
        {say('numbering.wayBack')}
      </a>{' '}
      {say('numbering.wayBack.text', { whole: say('numbering.import.replaces') })}
    </p>
  )
}

const kinds = ['moved', 'added', 'removed', 'changed'] as const
type Kind = (typeof kinds)[number]

const titles = {
  moved: 'numbering.kind.moved',
  added: 'numbering.kind.added',
  removed: 'numbering.kind.removed',
  changed: 'numbering.kind.changed',
} as const

type ChangesProps = { kind: Kind; difference: Difference; isPorted: boolean }

/** One kind of change, with its first ranges or numbers. */
function Changes({ kind, difference, isPorted }: ChangesProps) {
  const { say } = useWords()
  const { ranges, numbers, samples } = difference.changes[kind]
  const { number } = useFormats()
  const holder = useOperatorName()
  const cellOf = (one: (typeof samples)[number]['before']) =>
    one ? (
      <>
        {holder(one.operator)}
        {one.region && <span className={table.sub}>{one.region}</span>}
      </>
    ) : (
      '–'
    )
  return (
    <div className={styles.kind}>
      <h3>
        {say(titles[kind])}
        <span className="note">
          {isPorted
            ? say('numbering.countNumbers', { count: numbers })
            : say('numbering.countRanges', { count: ranges, numbers: number(numbers) })}
        </span>
      </h3>
      <table className={`${table.table} ${styles.changes}`}>
        <thead>
          <tr>
            <th>{say('numbering.numbersOf')}</th>
            <th>{say('numbering.before')}</th>
            <th>{say('numbering.after')}</th>
          </tr>
        </thead>
        <tbody>
          {samples.map(({ first, last, before, after }) => (
            <tr key={first}>
              <td className={`${table.title} ${styles.range}`}>
                {first === last ? grouped(first) : `${grouped(first)} – ${grouped(last)}`}
              </td>
              <td data-label={say('numbering.before')}>{cellOf(before)}</td>
              <td data-label={say('numbering.after')}>{cellOf(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {ranges > samples.length && <p className="note">{say('numbering.more', { count: ranges - samples.length })}</p>}
    </div>
  )
}
