import { Button, Switch } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { ImportAnswer } from '../../../../src/http/cabinet/tariffs/tariffs.ts'
import { ask, type Wire } from '../../api.ts'
import { Section } from '../../parts/content/section.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FileDrop } from '../../parts/forms/file-drop.tsx'
import { describeFileProblem, describeMistake } from '../../parts/forms/file-mistake.ts'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import table from '../../parts/lists/table.module.css'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useWords } from '../../words/words.ts'
import { tomorrowIn, useTariffFormats, useTariffNames } from '../names.ts'
import styles from '../tariffs.module.css'
import { type Book, bookQuery, exportAddress, type Place, pricesExportAddress, TARIFFS } from '../tariffs.ts'
import { DayField } from './day-field.tsx'
import { usePriceName } from './price-dialog.tsx'

type Difference = Wire<ImportAnswer>
type Imported = Difference['added'][number]

/** Imports a file of tariffs. The page shows the changes first. */
export function ImportPage() {
  const { say } = useWords()
  const { book } = useSearch({ from: '/shell/tariffs/import' })
  const { data, error, refetch } = useQuery(bookQuery(book))
  return (
    <>
      <PageHead
        title={say('tariffs.import.title')}
        note={
          data ? (data.partner ? say('tariffs.ownOf', { login: data.partner.login }) : say('tariffs.general')) : ' '
        }
      />
      {data ? <Import data={data} /> : error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows />}
    </>
  )
}

function Import({ data }: { data: Book }) {
  const words = useWords()
  const { say } = words
  const [file, setFile] = useState<{ name: string; text: string }>()
  const [from, setFrom] = useState<string | null>(() => tomorrowIn(data.zone))
  const [replaces, setReplaces] = useState(false)
  const { check, apply } = useImport(data, file && { text: file.text, from: from || null, replaces })
  const read = async ([chosen]: File[]) => {
    if (!chosen) return
    apply.reset()
    setFile({ name: chosen.name, text: await chosen.text() })
  }
  return (
    <>
      <FileDrop
        title={file ? file.name : say('tariffs.import.drop')}
        note={say('tariffs.import.format')}
        button={say(file ? 'tariffs.import.other' : 'tariffs.import.choose')}
        accept=".csv,.json,text/csv,application/json"
        onFiles={files => void read(files)}
      />
      {file && (
        <div className={styles.options}>
          <DayField zone={data.zone} value={from} isCounted={check.data?.kind !== 'prices'} onChange={setFrom} />
          <ReplaceSwitch isOfPrices={check.data?.kind === 'prices'} isOn={replaces} onChange={setReplaces} />
        </div>
      )}
      {apply.isError && <FormProblem>{describeFileProblem(words, apply.error)}</FormProblem>}
      {check.error && <FormProblem>{describeFileProblem(words, check.error)}</FormProblem>}
      {file && check.data && (
        <Shown
          difference={check.data}
          zone={data.zone}
          isBusy={apply.isPending}
          onApply={() => apply.mutate(check.data.version)}
        />
      )}
      {file && check.isPending && <BoneRows />}
      {!file && <Advice partnerId={data.partner?.partnerId} />}
    </>
  )
}

type ImportOptions = { text: string; from: string | null; replaces: boolean }

/** `check` computes the changes of the file, `apply` imports them. */
function useImport({ partner }: Book, options: ImportOptions | undefined) {
  const { say } = useWords()
  const client = useQueryClient()
  const navigate = useNavigate()
  const question = { ...(partner && { partnerId: partner.partnerId }), ...options }
  const check = useQuery({
    queryKey: [...TARIFFS, 'check', question],
    queryFn: () => ask<ImportAnswer>('POST', '/tariffs/import/check', question),
    enabled: options !== undefined,
    retry: false,
  })
  const apply = useMutation({
    mutationFn: (version: string) => ask<void>('POST', '/tariffs/import', { ...question, version }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: TARIFFS })
      tellDone(say('tariffs.imported'))
      await navigate({ to: '/tariffs', search: { book: partner?.partnerId } })
    },
    onError: () => check.refetch(),
  })
  return { check, apply }
}

type SwitchProps = { isOfPrices: boolean; isOn: boolean; onChange(isOn: boolean): void }

function ReplaceSwitch({ isOfPrices, isOn, onChange }: SwitchProps) {
  const { say } = useWords()
  return (
    <Switch
      label={say('tariffs.import.replaces')}
      description={say(isOfPrices ? 'tariffs.import.replacesPrices.note' : 'tariffs.import.replaces.note')}
      checked={isOn}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  )
}

/** Offers the present tariffs as files, because they are the best start for a new file. */
function Advice({ partnerId }: { partnerId: number | undefined }) {
  const { say } = useWords()
  return (
    <p className={`note ${styles.below}`}>
      {say('tariffs.import.advice')}{' '}
      <a href={exportAddress(partnerId)} download className="link">
        {say('tariffs.import.ofTariffs')}
      </a>
      {partnerId === undefined && (
        <>
          ,{' '}
          <a href={pricesExportAddress()} download className="link">
            {say('tariffs.import.ofPrices')}
          </a>
        </>
      )}
    </p>
  )
}

type ShownProps = { difference: Difference; zone: string; isBusy: boolean; onApply(): void }

function Shown({ difference, zone, isBusy, onApply }: ShownProps) {
  const words = useWords()
  const { say } = words
  const { added, changed, ended, unchanged, wrong, version } = difference
  const count = added.length + changed.length + ended.length
  const isGood = wrong.length === 0 && count > 0
  return (
    <div key={version}>
      {wrong.length > 0 && (
        <Section title={say('tariffs.import.wrong', { count: wrong.length })}>
          <ul className={styles.wrong}>
            {wrong.slice(0, MOST_SHOWN).map(reason => (
              <li key={reason}>{describeMistake(words, reason)}</li>
            ))}
          </ul>
        </Section>
      )}
      <Group title={say('tariffs.import.changed', { count: changed.length })} isShown={changed.length > 0}>
        {changed.map(({ before, after }) => (
          <Line key={keyOf(after)} place={after} zone={zone} before={before} after={after} />
        ))}
      </Group>
      <Group title={say('tariffs.import.added', { count: added.length })} isShown={added.length > 0}>
        {added.map(after => (
          <Line key={keyOf(after)} place={after} zone={zone} after={after} />
        ))}
      </Group>
      <Group title={say('tariffs.import.ended', { count: ended.length })} isShown={ended.length > 0}>
        {ended.map(before => (
          <Line key={keyOf(before)} place={before} zone={zone} before={before} />
        ))}
      </Group>
      <div className={styles.apply}>
        <p className="note">
          {count === 0 && wrong.length === 0
            ? say('tariffs.import.nothing', { count: unchanged })
            : say('tariffs.import.unchanged', { count: unchanged })}
        </p>
        {isGood && (
          <Button variant="filled" loading={isBusy} onClick={onApply}>
            {say('tariffs.import.apply', { count })}
          </Button>
        )}
      </div>
    </div>
  )
}

const MOST_SHOWN = 50
const keyOf = (one: Imported) =>
  'steps' in one ? `${one.senderType} ${one.brand} ${one.trafficType}` : `${one.channelType} ${one.country}`

function Group({ title, isShown, children }: { title: string; isShown: boolean; children: ReactNode }) {
  const { say } = useWords()
  if (!isShown) return null
  return (
    <Section title={title}>
      <table className={`${table.table} ${styles.difference}`}>
        <thead>
          <tr>
            <th>{say('tariffs.tariff')}</th>
            <th className={table.number}>{say('tariffs.before')}</th>
            <th className={table.number}>{say('tariffs.after')}</th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Section>
  )
}

type LineProps = { place: Imported; zone: string; before?: Imported; after?: Imported }

function Line({ place, zone, before, after }: LineProps) {
  const { say } = useWords()
  const names = useTariffNames()
  const nameOf = usePriceName()
  const { span, price } = useTariffFormats(zone)
  const cellOf = (one: Imported | undefined) => {
    if (!one) return '–'
    if (!('steps' in one)) return price(one.price ?? 0)
    return (
      <>
        {span(one.steps)}
        <span className={table.sub}>{names.model(one.pricingModel as 'FIXED')}</span>
      </>
    )
  }
  return (
    <tr>
      <td className={table.title}>{'steps' in place ? names.place(place as Place) : nameOf(place)}</td>
      <td data-label={say('tariffs.before')} className={table.number}>
        {cellOf(before)}
      </td>
      <td data-label={say('tariffs.after')} className={table.number}>
        {cellOf(after)}
      </td>
    </tr>
  )
}
