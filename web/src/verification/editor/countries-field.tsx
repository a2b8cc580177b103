import { NativeSelect, UnstyledButton } from '@mantine/core'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import { useNames } from '../verification.ts'
import type { FormProps } from './draft.ts'

/** The countries whose numbers get codes. An empty list means all countries. */
export function CountriesField({ form: { draft, setting, wrong }, codes }: { form: FormProps; codes: string[] }) {
  const { say } = useWords()
  const names = useNames()
  const { countries } = draft.settings
  const offered = codes
    .filter(code => !countries.includes(code))
    .map(value => ({ value, label: names.country(value) }))
    .sort((a, b) => names.compare(a.label, b.label))
  return (
    <Section title={say('verification.countries')} note={say('verification.countries.note')}>
      {countries.length === 0 && <p className="note">{say('verification.countries.all')}</p>}
      <div className={styles.chips}>
        {countries.map(code => (
          <UnstyledButton
            key={code}
            className={styles.chip}
            aria-label={say('verification.countries.remove', { country: names.country(code) })}
            onClick={() => setting({ countries: countries.filter(each => each !== code) })}
          >
            {names.country(code)}
            <Icon name="cross" size={14} />
          </UnstyledButton>
        ))}
        <NativeSelect
          className={styles.adder}
          aria-label={say('verification.countries.add')}
          value=""
          error={wrong('countries')}
          onChange={({ currentTarget }) =>
            currentTarget.value && setting({ countries: [...countries, currentTarget.value] })
          }
          data={[{ value: '', label: say('verification.countries.add') }, ...offered]}
        />
      </div>
    </Section>
  )
}
