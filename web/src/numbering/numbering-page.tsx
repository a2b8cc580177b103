import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useFormats } from '../format.ts'
import columns from '../parts/content/columns.module.css'
import { Icon } from '../parts/content/icon.tsx'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Section } from '../parts/content/section.tsx'
import { useIsDrawn } from '../parts/first-drawing.ts'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { ImportBox } from './import-box.tsx'
import { Lookup } from './lookup.tsx'
import styles from './numbering.module.css'
import { exportAddress, type Numbering, numberingQuery, type SourceKind, useNumberingSearch } from './numbering.ts'
import { Operators } from './operators.tsx'
import { UploadSection } from './upload-section.tsx'
import { VirtualOperators } from './virtual-operators.tsx'

/** The numbering plan: search for a number, the sources of the plan, and the import of a new file. */
export function NumberingPage() {
  const { say } = useWords()
  const { upload } = useNumberingSearch()
  const mayChange = useMe().rights.includes('numbering.change')
  const { data, error, refetch } = useQuery(numberingQuery)
  const isDrawn = useIsDrawn() // virtual operators are below the first screen
  return (
    <>
      <PageHead title={say('numbering.title')} note={say('numbering.note')} />
      {upload !== undefined && mayChange && <UploadSection uploadId={upload} />}
      {data ? (
        <div className={columns.columns}>
          <div>
            <Lookup />
            <Operators operators={data.operators} />
          </div>
          <aside className={columns.aside}>
            <State data={data} />
            {mayChange && upload === undefined && <ImportBox data={data} />}
            {isDrawn && <VirtualOperators data={data} mayChange={mayChange} />}
          </aside>
        </div>
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
    </>
  )
}

function State({ data }: { data: Numbering }) {
  const { say } = useWords()
  const { number } = useFormats()
  return (
    <Section title={say('numbering.state')}>
      <Pairs>
        <Pair name={say('numbering.register')}>
          <Source data={data} kind="register" otherwise={say('numbering.carried')} />
        </Pair>
        <Pair name={say('numbering.ported')}>
          <Source data={data} kind="ported" otherwise={say('numbering.noFile')} />
        </Pair>
        <Pair name={say('numbering.ranges')}>{number(data.ranges)}</Pair>
        <Pair name={say('numbering.codes')}>{number(data.importedCodes)}</Pair>
        <Pair name={say('numbering.carriedCodes')}>{number(data.carriedCodes)}</Pair>
        <Pair name={say('numbering.portedCount')}>{number(data.ported)}</Pair>
      </Pairs>
      <div className={styles.files}>
        <Download kind="register">{say('numbering.export.register')}</Download>
        {data.ported > 0 && <Download kind="ported">{say('numbering.export.ported')}</Download>}
      </div>
      <p className="note">{say('numbering.export.note')}</p>
    </Section>
  )
}

const Download = ({ kind, children }: { kind: SourceKind; children: string }) => (
  <Button component="a" href={exportAddress(kind)} download leftSection={<Icon name="download" />}>
    {children}
  </Button>
)

type SourceProps = { data: Numbering; kind: SourceKind; otherwise: string }

function Source({ data, kind, otherwise }: SourceProps) {
  const { moment } = useFormats()
  const source = data.sources.find(one => one.kind === kind)
  if (!source) return otherwise
  return (
    <>
      {source.name || moment(source.importedAt)}
      {source.name && <span className={`note ${styles.when}`}>{moment(source.importedAt)}</span>}
    </>
  )
}
