import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Section } from '../parts/content/section.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { nameOfCountry } from '../words/intl.ts'
import { locales, useWords } from '../words/words.ts'
import { grouped, useBrand } from './brands.ts'
import styles from './numbering.module.css'
import { type Found, lookupQuery, useNumberingSearch } from './numbering.ts'

/** Finds the operator and the region of one number. */
export function Lookup() {
  const words = useWords()
  const { say } = words
  const { number, change } = useNumberingSearch()
  const [typed, setTyped] = useState(number ?? '')
  const { data, error } = useQuery({ ...lookupQuery(number ?? ''), enabled: number !== undefined })
  const find = (event: FormEvent) => {
    event.preventDefault()
    change({ number: typed.trim() || undefined })
  }
  return (
    <Section title={say('numbering.lookup')}>
      <form onSubmit={find} className={styles.lookup}>
        <TextInput
          aria-label={say('numbering.number')}
          placeholder="+7 916 000-00-01"
          leftSection={<Icon name="search" />}
          inputMode="tel"
          autoComplete="off"
          maxLength={40}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Button type="submit">{say('numbering.find')}</Button>
      </form>
      {error && <FormProblem>{describeProblem(words, error)}</FormProblem>}
      {number !== undefined && data && <Answer found={data} />}
    </Section>
  )
}

function Answer({ found }: { found: Found }) {
  const { say, language } = useWords()
  const brand = useBrand()
  if (found.kind === 'foreign') {
    return (
      <div className={styles.found}>
        <Pairs>
          <Pair name={say('numbering.number')}>{`+${found.digits}`}</Pair>
          <Pair name={say('numbering.country')}>{nameOfCountry(locales[language], found.country)}</Pair>
        </Pairs>
      </div>
    )
  }
  const { range, portedTo, isCarried } = found
  const carrier = portedTo ?? range?.brandId
  return (
    <div className={styles.found}>
      <Pairs>
        <Pair name={say('numbering.number')}>{grouped(Number(found.digits))}</Pair>
        <Pair name={say('numbering.sentThrough')}>
          <b>
            {carrier === undefined ? say('numbering.nobody') : carrier === 0 ? range?.operator.name : brand(carrier)}
          </b>
        </Pair>
        {portedTo !== null && <Pair name={say('numbering.portedTo')}>{brand(portedTo)}</Pair>}
        <Pair name={say('numbering.holder')}>{range ? range.operator.name : say('numbering.nobody')}</Pair>
        {range && (
          <>
            <Pair name={say('numbering.region')}>{`${range.region}, ${range.zone}`}</Pair>
            <Pair name={say('numbering.range')}>{`${grouped(range.first)} – ${grouped(range.last)}`}</Pair>
          </>
        )}
        <Pair name={say('numbering.from')}>
          {say(isCarried ? 'numbering.from.carried' : 'numbering.from.register')}
        </Pair>
      </Pairs>
    </div>
  )
}
