import { TextInput, UnstyledButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SenderFeeChange } from '../../../src/http/cabinet/tariffs.ts'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FormProblem } from '../parts/form-problem.tsx'
import { Pair, Pairs } from '../parts/pairs.tsx'
import { Section } from '../parts/section.tsx'
import { tellDone } from '../parts/toast.tsx'
import { useTrafficNames } from '../parts/traffic-names.ts'
import { describeProblem } from '../problems.ts'
import { nameOfCountry } from '../words/intl.ts'
import { locales, useWords } from '../words/words.ts'
import styles from './tariffs.module.css'
import { type Prices, TARIFFS } from './tariffs.ts'

type Fee = Prices['fees'][number]
type Props = { prices: Pick<Prices, 'fees' | 'channels' | 'countries'>; mayChange?: boolean }

/** What is the same for everybody: fees of names, other channels, other countries. */
export function OtherPrices({ prices, mayChange = false }: Props) {
  const { say, language } = useWords()
  const { money } = useFormats()
  const names = useTrafficNames()
  const [changing, setChanging] = useState<Fee>()
  const countryOf = (code: string) => (code === '*' ? say('tariffs.elsewhere') : nameOfCountry(locales[language], code))
  return (
    <div className={styles.others}>
      <Section title={say('tariffs.fees')}>
        <p className={`note ${styles.about}`}>{say('tariffs.fees.note')}</p>
        <Pairs>
          {prices.fees.map(fee => (
            <Pair key={fee.brand} name={names.operator(fee.brand)}>
              {money(fee.value, fee.currency)}
              {mayChange && (
                <UnstyledButton
                  className={`link ${styles.change}`}
                  aria-label={say('tariffs.fees.changeOf', { operator: names.operator(fee.brand) })}
                  onClick={() => setChanging(fee)}
                >
                  {say('tariffs.fees.change')}
                </UnstyledButton>
              )}
            </Pair>
          ))}
        </Pairs>
      </Section>
      <Section title={say('tariffs.channels')}>
        <p className={`note ${styles.about}`}>{say('tariffs.channels.note')}</p>
        <Pairs>
          {prices.channels.map(({ channelType, price }) => (
            <Pair key={channelType} name={names.channel(channelType as 'SMS')}>
              {money(price, 'RUB')}
            </Pair>
          ))}
        </Pairs>
      </Section>
      <Section title={say('tariffs.countries')}>
        <p className={`note ${styles.about}`}>{say('tariffs.countries.note')}</p>
        <Pairs>
          {prices.countries
            .toSorted((a, b) => Number(a.countryCode === '*') - Number(b.countryCode === '*'))
            .map(({ countryCode, price }) => (
              <Pair key={countryCode} name={countryOf(countryCode)}>
                {money(price, 'RUB')}
              </Pair>
            ))}
        </Pairs>
      </Section>
      {changing && <FeeDialog fee={changing} onClose={() => setChanging(undefined)} />}
    </div>
  )
}

function FeeDialog({ fee, onClose }: { fee: Fee; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const operator = useTrafficNames().operator(fee.brand)
  const [value, setValue] = useState(String(fee.value))
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: (change: SenderFeeChange) => ask<void>('PATCH', '/tariffs/fees', change),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: TARIFFS })
      tellDone(say('tariffs.fees.changed', { operator }))
      onClose()
    },
  })
  const submit = () => save.mutate({ brand: fee.brand, before: fee.value, value: value.trim().replace(',', '.') })
  return (
    <Dialog
      title={say('tariffs.fees.title', { operator })}
      text={say('tariffs.fees.text')}
      submit={say('tariffs.fees.submit')}
      isBusy={save.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {save.isError && <FormProblem>{describeProblem(words, save.error)}</FormProblem>}
      <TextInput
        label={say('tariffs.fees.value')}
        inputMode="decimal"
        data-autofocus
        maxLength={20}
        value={value}
        onChange={({ currentTarget }) => setValue(currentTarget.value)}
      />
    </Dialog>
  )
}
