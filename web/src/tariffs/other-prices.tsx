import { TextInput, UnstyledButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SenderFeeChange } from '../../../src/http/cabinet/tariffs/tariffs.ts'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Section } from '../parts/content/section.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { PriceDialog, usePriceName, WithdrawPriceDialog } from './changes/price-dialog.tsx'
import { useTariffFormats } from './names.ts'
import styles from './tariffs.module.css'
import { type OtherPrice, type Prices, TARIFFS } from './tariffs.ts'

type Fee = Prices['fees'][number]
type Props = {
  prices: Pick<Prices, 'fees' | 'channels' | 'countries' | 'zone'>
  /** Codes of the countries that can have a price. Only for people who may change prices. */
  pricedCountries?: string[]
}

/** The prices that are the same for all companies: sender fees, other channels, other countries. */
export function OtherPrices({ prices, pricedCountries }: Props) {
  const { say } = useWords()
  const [price, setPrice] = useState<OtherPrice | 'new'>()
  const [withdrawn, setWithdrawn] = useState<OtherPrice>()
  const mayChange = pricedCountries !== undefined
  const shown = { zone: prices.zone, ...(mayChange ? { onChange: setPrice, onWithdraw: setWithdrawn } : {}) }
  const taken = prices.countries.map(({ country }) => country)
  return (
    <div className={styles.others}>
      <Fees fees={prices.fees} mayChange={mayChange} />
      <Section title={say('tariffs.channels')}>
        <p className={`note ${styles.about}`}>{say('tariffs.channels.note')}</p>
        <PriceList prices={prices.channels} {...shown} />
      </Section>
      <Section
        title={say('tariffs.countries')}
        end={
          mayChange && (
            <UnstyledButton className="link" onClick={() => setPrice('new')}>
              {say('tariffs.countries.add')}
            </UnstyledButton>
          )
        }
      >
        <p className={`note ${styles.about}`}>{say('tariffs.countries.note')}</p>
        <PriceList prices={prices.countries} {...shown} />
      </Section>
      {price && (
        <PriceDialog
          {...(price === 'new' ? {} : { price })}
          countries={(pricedCountries ?? []).filter(code => !taken.includes(code))}
          zone={prices.zone}
          onClose={() => setPrice(undefined)}
        />
      )}
      {withdrawn && (
        <WithdrawPriceDialog price={withdrawn} zone={prices.zone} onClose={() => setWithdrawn(undefined)} />
      )}
    </div>
  )
}

function Fees({ fees, mayChange }: { fees: Fee[]; mayChange: boolean }) {
  const { say } = useWords()
  const { money } = useFormats()
  const names = useTrafficNames()
  const [changed, setChanged] = useState<Fee>()
  return (
    <Section title={say('tariffs.fees')}>
      <p className={`note ${styles.about}`}>{say('tariffs.fees.note')}</p>
      <Pairs>
        {fees.map(fee => (
          <Pair
            key={fee.brand}
            name={
              <Name
                text={names.operator(fee.brand)}
                label={say('tariffs.fees.changeOf', { operator: names.operator(fee.brand) })}
                onClick={mayChange ? () => setChanged(fee) : undefined}
              />
            }
          >
            {money(fee.value, fee.currency)}
          </Pair>
        ))}
      </Pairs>
      {changed && <FeeDialog fee={changed} onClose={() => setChanged(undefined)} />}
    </Section>
  )
}

/** A button for people who may change the price, else text. */
const Name = ({ text, label, onClick }: { text: string; label: string; onClick: (() => void) | undefined }) =>
  onClick ? (
    <UnstyledButton className={styles.rowLink} aria-label={label} onClick={onClick}>
      {text}
    </UnstyledButton>
  ) : (
    text
  )

type ListProps = {
  prices: OtherPrice[]
  zone: string
  onChange?: (price: OtherPrice) => void
  onWithdraw?: (price: OtherPrice) => void
}

function PriceList({ prices, zone, onChange, onWithdraw }: ListProps) {
  const { say } = useWords()
  const { money } = useFormats()
  const { day } = useTariffFormats(zone)
  const nameOf = usePriceName()
  const textOf = (price: number | null) => (price === null ? say('tariffs.noOwn') : money(price, 'RUB'))
  return (
    <Pairs>
      {prices.map(one => (
        <Pair
          key={`${one.channelType} ${one.country}`}
          name={
            <Name
              text={nameOf(one)}
              label={say('tariffs.price.changeOf', { name: nameOf(one) })}
              onClick={onChange && (() => onChange(one))}
            />
          }
        >
          {textOf(one.price)}
          {one.next && (
            <span className={styles.next}>
              {say('tariffs.next', { price: textOf(one.next.price), day: day(one.next.from) })}
              {onWithdraw && (
                <UnstyledButton className={`link ${styles.change}`} onClick={() => onWithdraw(one)}>
                  {say('tariffs.withdraw')}
                </UnstyledButton>
              )}
            </span>
          )}
        </Pair>
      ))}
    </Pairs>
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
