import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { OtherPriceChange, OtherPriceWithdrawal } from '../../../../src/http/cabinet/tariffs/other-prices.ts'
import { ask } from '../../api.ts'
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { describeProblem } from '../../problems.ts'
import { nameOfCountry } from '../../words/intl.ts'
import { locales, useWords } from '../../words/words.ts'
import { tomorrowIn, useTariffFormats } from '../names.ts'
import { isPrice } from '../steps/step-editor.ts'
import { type OtherPrice, TARIFFS } from '../tariffs.ts'
import { DayField } from './day-field.tsx'

type Place = Pick<OtherPrice, 'channelType' | 'country'>

/** The translated name of a channel, or of the country of an SMS price. */
export function usePriceName() {
  const { say, language } = useWords()
  const names = useTrafficNames()
  return ({ channelType, country }: Place) =>
    country === null
      ? names.channel(channelType)
      : country === ELSEWHERE
        ? say('tariffs.elsewhere')
        : nameOfCountry(locales[language], country)
}

const ELSEWHERE = '*'

type Props = {
  /** The changed price. Without it the dialog adds a price for a country. */
  price?: OtherPrice
  /** Codes of countries without a price of their own. */
  countries: string[]
  zone: string
  onClose(): void
}

/** Sets a new price of a channel or a country, at once or from a day on. */
export function PriceDialog({ price, countries, zone, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const nameOf = usePriceName()
  const choices = useCountryChoices(countries)
  const [country, setCountry] = useState(price?.country ?? choices[0]?.value ?? null)
  const [value, setValue] = useState(price?.price == null ? '' : String(price.price))
  const [isEnded, setIsEnded] = useState(false)
  const [from, setFrom] = useState<string | null>(() => tomorrowIn(zone))
  const [isChecked, setIsChecked] = useState(false)
  const place: Place = price ?? { channelType: 'SMS', country }
  const typed = value.trim().replace(',', '.')
  const isWrong = !isEnded && !isPrice(typed)
  const save = useSave(onClose)
  const submit = () => {
    setIsChecked(true)
    if (isWrong) return
    const { channelType, country } = place
    const version = price?.version ?? ''
    save.mutate({ channelType, country, version, from: from || null, price: isEnded ? null : typed })
  }
  const mayEnd = price?.country != null && price.country !== ELSEWHERE
  return (
    <Dialog
      title={price ? say('tariffs.price.title', { name: nameOf(price) }) : say('tariffs.countries.add')}
      text={say('tariffs.price.text')}
      submit={say(price ? 'tariffs.change' : 'tariffs.countries.add')}
      isBusy={save.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {save.isError && <FormProblem>{describeProblem(words, save.error)}</FormProblem>}
      {!price && (
        <NativeSelect
          label={say('calculator.country')}
          value={country ?? ''}
          data={choices}
          onChange={({ currentTarget }) => setCountry(currentTarget.value)}
        />
      )}
      <PriceField
        value={value}
        isOfMessage={place.country === null}
        isDisabled={isEnded}
        isWrong={isChecked && isWrong}
        onChange={setValue}
      />
      {mayEnd && <EndCheckbox isEnded={isEnded} onChange={setIsEnded} />}
      <DayField zone={zone} value={from} isCounted={false} onChange={setFrom} />
    </Dialog>
  )
}

/** Countries with their names, sorted by name. */
function useCountryChoices(countries: string[]) {
  const nameOf = usePriceName()
  return countries
    .map(value => ({ value, label: nameOf({ channelType: 'SMS', country: value }) }))
    .sort((a, b) => a.label.localeCompare(b.label))
}

function useSave(onClose: () => void) {
  const { say } = useWords()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: OtherPriceChange) => ask<void>('POST', '/tariffs/prices/changes', change),
    onSuccess: async (_, { from }) => {
      await client.invalidateQueries({ queryKey: TARIFFS })
      tellDone(say(from === null ? 'tariffs.changed.now' : 'tariffs.changed.later'))
      onClose()
    },
  })
}

type PriceFieldProps = {
  value: string
  /** SMS prices are per part, prices of other channels per message. */
  isOfMessage: boolean
  isDisabled: boolean
  isWrong: boolean
  onChange(value: string): void
}

function PriceField({ value, isOfMessage, isDisabled, isWrong, onChange }: PriceFieldProps) {
  const { say } = useWords()
  return (
    <TextInput
      label={say(isOfMessage ? 'tariffs.price.message' : 'tariffs.price.part')}
      inputMode="decimal"
      autoComplete="off"
      data-autofocus
      maxLength={20}
      disabled={isDisabled}
      value={value}
      error={isWrong && say('tariffs.problem.price')}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

function EndCheckbox({ isEnded, onChange }: { isEnded: boolean; onChange(isEnded: boolean): void }) {
  const { say } = useWords()
  return (
    <Checkbox
      label={say('tariffs.price.end')}
      description={say('tariffs.price.end.note')}
      checked={isEnded}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  )
}

type WithdrawProps = { price: OtherPrice; zone: string; onClose(): void }

/** Withdraws a planned change. */
export function WithdrawPriceDialog({ price, zone, onClose }: WithdrawProps) {
  const { say } = useWords()
  const { since } = useTariffFormats(zone)
  const { channelType, country, version } = price
  const withdrawal: OtherPriceWithdrawal = { channelType, country, version }
  return (
    <ConfirmDialog
      title={say('tariffs.withdraw.title', { day: since(price.next?.from ?? null) })}
      text={say('tariffs.withdraw.text')}
      submit={say('tariffs.withdraw')}
      change={() => ask<void>('POST', '/tariffs/prices/withdrawals', withdrawal)}
      stale={[TARIFFS]}
      done={say('tariffs.withdrawn')}
      onClose={onClose}
    />
  )
}
