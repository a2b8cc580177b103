import { NativeSelect, TextInput } from '@mantine/core'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import { periods, useVerificationSearch, type Verification } from '../verification.ts'

const OWN = 'own'

/** All filters are in the URL, so that a person can send the view to a colleague. */
export function Filters({ data }: { data: Verification }) {
  const { say } = useWords()
  const { filter, change } = useVerificationSearch()
  const isOwn = filter.from !== undefined || filter.to !== undefined
  const choose = (period: string) =>
    period === OWN
      ? change({ days: undefined, from: data.from, to: data.to })
      : change({ days: Number(period), from: undefined, to: undefined })
  return (
    <div className={styles.filters}>
      <NativeSelect
        aria-label={say('verification.filter.verifier')}
        value={filter.verifier ?? ''}
        onChange={({ currentTarget }) => change({ verifier: currentTarget.value || undefined })}
      >
        <option value="">{say('verification.filter.all')}</option>
        {[...data.verifiers, ...data.widgets].map(({ id, name }) => (
          <option key={id} value={id}>
            {name}, {id}
          </option>
        ))}
      </NativeSelect>
      <NativeSelect
        aria-label={say('verification.filter.period')}
        value={isOwn ? OWN : String(filter.days ?? data.byDay.length)}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={[
          ...periods.map(count => ({ value: String(count), label: say('verification.filter.days', { count }) })),
          { value: OWN, label: say('verification.filter.own') },
        ]}
      />
      {isOwn && (
        <>
          <TextInput
            type="date"
            aria-label={say('verification.filter.from')}
            value={filter.from ?? data.from}
            max={data.to}
            onChange={({ currentTarget }) => change({ from: currentTarget.value || undefined })}
          />
          <TextInput
            type="date"
            aria-label={say('verification.filter.to')}
            value={filter.to ?? data.to}
            min={data.from}
            onChange={({ currentTarget }) => change({ to: currentTarget.value || undefined })}
          />
        </>
      )}
    </div>
  )
}
