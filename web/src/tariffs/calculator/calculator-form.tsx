import { NativeSelect, NumberInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { allChannelTypes } from '../../../../src/base/channel-types.ts'
import { useFormats } from '../../format.ts'
import columns from '../../parts/content/columns.module.css'
import { Section } from '../../parts/content/section.tsx'
import { operatorNames } from '../../parts/names/operator-names.ts'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useCompanyId } from '../../parts/pages/one-company.tsx'
import { oneOf } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'
import { usePriceName } from '../changes/price-dialog.tsx'
import { senderTypeNames, trafficTypeNames, useTariffNames } from '../names.ts'
import styles from '../tariffs.module.css'
import { bookQuery, pricesQuery } from '../tariffs.ts'
import { MOST_MESSAGES, MOST_PARTS, type Question, usual } from './calculator.ts'

type Props = { question: Question; isStaff: boolean; counted: number | undefined }

export function CalculatorForm({ question, isStaff, counted }: Props) {
  const { say } = useWords()
  const { channel: nameOf } = useTrafficNames()
  const company = useCompanyId()
  const navigate = useNavigate()
  const set = (change: Question) =>
    void navigate({ to: '.', search: before => ({ ...before, ...change }), replace: true })
  const { channel = usual.channel, country = usual.country } = question
  const isSms = channel === 'SMS'
  const hasTariff = isSms && country === 'RU'
  return (
    <Section title={say('calculator.what')}>
      <div className={columns.form}>
        {isStaff && company === undefined && <PartnerField question={question} onChange={set} />}
        <NativeSelect
          label={say('calculator.channel')}
          value={channel}
          data={allChannelTypes.map(value => ({ value, label: nameOf(value) }))}
          onChange={({ currentTarget }) => set({ channel: currentTarget.value })}
        />
        {isSms && <CountryField question={question} onChange={set} />}
        {hasTariff && <TariffFields question={question} onChange={set} />}
        <MessageFields question={question} onChange={set} />
        {hasTariff && (
          <Count
            label={say('calculator.volume')}
            note={say(company === undefined ? 'calculator.volume.none' : 'calculator.volume.note')}
            value={question.volume ?? counted ?? 0}
            least={0}
            most={MOST_MESSAGES}
            onChange={volume => set({ volume })}
          />
        )}
      </div>
    </Section>
  )
}

type FieldProps = { question: Question; onChange(change: Question): void }

function CountryField({ question: { country = usual.country }, onChange }: FieldProps) {
  const { say } = useWords()
  const nameOf = usePriceName()
  const { data: prices } = useQuery(pricesQuery(useCompanyId()))
  const priced = (prices?.countries ?? []).flatMap(one => one.country ?? [])
  return (
    <NativeSelect
      label={say('calculator.country')}
      value={country}
      data={[...new Set(['RU', ...priced, country])].map(value => ({
        value,
        label: nameOf({ channelType: 'SMS', country: value }),
      }))}
      onChange={({ currentTarget }) => onChange({ country: currentTarget.value })}
    />
  )
}

/** The three fields that choose a tariff of SMS to Russian numbers. */
function TariffFields({ question, onChange }: FieldProps) {
  const { say } = useWords()
  const names = useTariffNames()
  const traffic = useTrafficNames()
  return (
    <>
      <NativeSelect
        label={say('tariffs.senderType')}
        value={question.sender ?? usual.sender}
        data={senderTypeNames.map(value => ({ value, label: names.senderType(value) }))}
        onChange={({ currentTarget }) => onChange({ sender: oneOf(senderTypeNames, currentTarget.value) })}
      />
      <NativeSelect
        label={say('tariffs.operator')}
        value={question.brand ?? usual.brand}
        data={operatorNames.map(value => ({
          value,
          label: value === 'OTHER' ? traffic.operator(null) : names.brand(value),
        }))}
        onChange={({ currentTarget }) => onChange({ brand: oneOf(operatorNames, currentTarget.value) })}
      />
      <NativeSelect
        label={say('tariffs.traffic')}
        value={question.traffic ?? usual.traffic}
        data={trafficTypeNames.map(value => ({ value, label: names.trafficType(value) }))}
        onChange={({ currentTarget }) => onChange({ traffic: oneOf(trafficTypeNames, currentTarget.value) })}
      />
    </>
  )
}

function MessageFields({ question, onChange }: FieldProps) {
  const { say } = useWords()
  return (
    <div className={styles.pair}>
      <Count
        label={say('calculator.messages')}
        value={question.messages ?? usual.messages}
        least={1}
        most={MOST_MESSAGES}
        onChange={messages => onChange({ messages })}
      />
      <Count
        label={say('calculator.parts')}
        value={question.parts ?? usual.parts}
        least={1}
        most={MOST_PARTS}
        onChange={parts => onChange({ parts })}
      />
    </div>
  )
}

function PartnerField({ question, onChange }: FieldProps) {
  const { say } = useWords()
  const { data } = useQuery(bookQuery(undefined))
  return (
    <NativeSelect
      label={say('calculator.partner')}
      description={say('calculator.partner.note')}
      value={question.partner ?? ''}
      data={[
        { value: '', label: say('tariffs.general') },
        ...(data?.books ?? []).map(({ partnerId, login }) => ({ value: String(partnerId), label: login })),
      ]}
      onChange={({ currentTarget }) => onChange({ partner: Number(currentTarget.value) || undefined })}
    />
  )
}

type CountProps = {
  label: string
  note?: string
  value: number
  least: number
  most: number
  onChange(count: number): void
}

function Count({ label, note, value, least, most, onChange }: CountProps) {
  const { separators } = useFormats()
  return (
    <NumberInput
      label={label}
      description={note}
      value={value}
      min={least}
      max={most}
      clampBehavior="strict"
      allowDecimal={false}
      allowNegative={false}
      {...separators}
      hideControls
      onChange={typed => typeof typed === 'number' && typed >= least && onChange(typed)}
    />
  )
}
