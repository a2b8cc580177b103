import { NativeSelect, NumberInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { allChannelTypes } from '../../../../src/base/channel-types.ts'
import { useFormats } from '../../format.ts'
import { useSign } from '../../new-dispatch/amounts.ts'
import columns from '../../parts/content/columns.module.css'
import { Section } from '../../parts/content/section.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import table from '../../parts/lists/table.module.css'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useCompanyId } from '../../parts/pages/one-company.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { usePriceName } from '../changes/price-dialog.tsx'
import { brandNames, senderTypeNames, trafficTypeNames, useTariffFormats, useTariffNames } from '../names.ts'
import { PriceTabs, TariffTabs } from '../tariff-tabs.tsx'
import styles from '../tariffs.module.css'
import { bookQuery, type Calculation, type Cost, pricesQuery } from '../tariffs.ts'
import { calculationQuery, type Question, usual } from './calculator.ts'

/** Computes the price of messages, step by step, at the volume of this month. */
export function CalculatorPage() {
  const { say } = useWords()
  const company = useCompanyId()
  const isStaff = useMe().kind === 'STAFF'
  const question = useSearch({ strict: false }) as Question
  const { data, error, refetch } = useQuery(calculationQuery(company, question))
  return (
    <>
      <PageHead
        title={say(isStaff ? 'tariffs.title' : 'prices.title')}
        note={say(isStaff ? 'tariffs.note' : 'prices.note')}
      />
      {isStaff ? <TariffTabs /> : <PriceTabs />}
      <div className={columns.columns}>
        <div>
          {data ? (
            <Answer data={data} />
          ) : error ? (
            <ErrorState error={error} onRetry={refetch} />
          ) : (
            <BoneRows rows={4} />
          )}
        </div>
        <aside className={`${columns.aside} ${styles.question}`}>
          <Form question={question} isStaff={isStaff} counted={data?.now.volume} />
        </aside>
      </div>
    </>
  )
}

type FormProps = { question: Question; isStaff: boolean; counted: number | undefined }

function Form({ question, isStaff, counted }: FormProps) {
  const { say } = useWords()
  const names = useTariffNames()
  const nameOf = usePriceName()
  const traffic = useTrafficNames()
  const company = useCompanyId()
  const navigate = useNavigate()
  const set = (change: Question) =>
    void navigate({ to: '.', search: before => ({ ...before, ...change }) as never, replace: true })
  const { channel = usual.channel, country = usual.country, sender = usual.sender, brand = usual.brand } = question
  const { data: prices } = useQuery(pricesQuery(company))
  /** Russia, the countries with a price of their own, and the country in the URL. */
  const codes = [...new Set(['RU', ...(prices?.countries ?? []).map(one => one.country!), country])]
  const isSms = channel === 'SMS'
  const isRussian = country === 'RU'
  return (
    <Section title={say('calculator.what')}>
      <div className={columns.form}>
        {isStaff && company === undefined && <PartnerField question={question} onChange={set} />}
        <NativeSelect
          label={say('calculator.channel')}
          value={channel}
          data={allChannelTypes.map(value => ({ value, label: traffic.channel(value) }))}
          onChange={({ currentTarget }) => set({ channel: currentTarget.value })}
        />
        {isSms && (
          <NativeSelect
            label={say('calculator.country')}
            value={country}
            data={codes.map(value => ({ value, label: nameOf({ channelType: 'SMS', country: value }) }))}
            onChange={({ currentTarget }) => set({ country: currentTarget.value })}
          />
        )}
        {isSms && isRussian && (
          <>
            <NativeSelect
              label={say('tariffs.senderType')}
              value={sender}
              data={senderTypeNames.map(value => ({ value, label: names.senderType(value) }))}
              onChange={({ currentTarget }) => set({ sender: currentTarget.value as Question['sender'] })}
            />
            <NativeSelect
              label={say('tariffs.operator')}
              value={brand}
              data={[...brandNames, 'OTHER' as const].map(value => ({
                value,
                label: value === 'OTHER' ? traffic.operator(null) : names.brand(value),
              }))}
              onChange={({ currentTarget }) => set({ brand: currentTarget.value as Question['brand'] })}
            />
            <NativeSelect
              label={say('tariffs.traffic')}
              value={question.traffic ?? usual.traffic}
              data={trafficTypeNames.map(value => ({ value, label: names.trafficType(value) }))}
              onChange={({ currentTarget }) => set({ traffic: currentTarget.value as Question['traffic'] })}
            />
          </>
        )}
        <div className={styles.pair}>
          <Count
            label={say('calculator.messages')}
            value={question.messages ?? usual.messages}
            least={1}
            most={1_000_000_000}
            onChange={messages => set({ messages })}
          />
          <Count
            label={say('calculator.parts')}
            value={question.parts ?? usual.parts}
            least={1}
            most={100}
            onChange={parts => set({ parts })}
          />
        </div>
        {isSms && isRussian && (
          <Count
            label={say('calculator.volume')}
            note={say(company === undefined ? 'calculator.volume.none' : 'calculator.volume.note')}
            value={question.volume ?? counted ?? 0}
            least={0}
            most={1_000_000_000}
            onChange={volume => set({ volume })}
          />
        )}
      </div>
    </Section>
  )
}

function PartnerField({ question, onChange }: { question: Question; onChange(change: Question): void }) {
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

function Answer({ data }: { data: Calculation }) {
  const { say } = useWords()
  const { day } = useTariffFormats(data.zone)
  return (
    <>
      <CostSection title={say('calculator.today')} cost={data.now} data={data} />
      {data.next && (
        <CostSection title={say('calculator.from', { day: day(data.next.from) })} cost={data.next} data={data} />
      )}
    </>
  )
}

function CostSection({ title, cost, data }: { title: string; cost: Cost; data: Calculation }) {
  const { say } = useWords()
  const { money } = useFormats()
  const { span } = useTariffFormats(data.zone)
  const names = useTariffNames()
  const isStaff = useMe().kind === 'STAFF'
  const { tariff } = cost
  return (
    <Section title={title}>
      <p className={styles.total}>{money(cost.total, data.currency)}</p>
      <p className="note">
        {tariff ? (
          isStaff ? (
            <Link to="/tariffs/$tariffId" params={{ tariffId: tariff.tariffId }} className="link">
              {names.place(tariff)}
            </Link>
          ) : (
            names.place(tariff)
          )
        ) : (
          say('calculator.onePrice')
        )}
        {tariff && ` · ${names.model(tariff.pricingModel)} · ${span(tariff.steps)}`}
      </p>
      <Lines cost={cost} data={data} />
      {tariff?.pricingModel === 'MAU' && <p className="note">{say('calculator.mau')}</p>}
    </Section>
  )
}

function Lines({ cost, data }: { cost: Cost; data: Calculation }) {
  const { say } = useWords()
  const { number, money } = useFormats()
  const { price } = useTariffFormats(data.zone)
  const sign = useSign(data.currency)
  const amount = (value: number) => money(value, data.currency).split('\u00a0').slice(0, -1).join('\u00a0')
  return (
    <table className={`${table.table} ${styles.lines}`}>
      <thead>
        <tr>
          <th>{say('calculator.step')}</th>
          <th className={table.number}>{say('calculator.messages')}</th>
          <th className={table.number}>{say('tariffs.pricePerPart', { sign })}</th>
          <th className={table.number}>{say('calculator.amount', { sign })}</th>
        </tr>
      </thead>
      <tbody>
        {cost.lines.map(line => (
          <tr key={line.from}>
            <td className={table.title}>{say('tariffs.step', { from: line.from, to: line.to })}</td>
            <td data-label={say('calculator.messages')} className={table.number}>
              {number(line.messages)}
            </td>
            <td data-label={say('tariffs.price')} className={table.number}>
              {price(line.perPart)}
            </td>
            <td className={`${table.number} ${table.corner}`}>{amount(line.amount)}</td>
          </tr>
        ))}
        {cost.packages.map(({ from, amount: cost }) => (
          <tr key={`package ${from}`}>
            <td className={table.title}>{say('calculator.package', { count: Math.max(from, 1) })}</td>
            <td className={table.number} />
            <td className={table.number} />
            <td className={`${table.number} ${table.corner}`}>{amount(cost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
