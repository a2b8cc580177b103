import { useFormats } from '../../format.ts'
import { useSign } from '../../new-dispatch/amounts.ts'
import table from '../../parts/lists/table.module.css'
import { useWords } from '../../words/words.ts'
import { useTariffFormats, useTariffNames } from '../names.ts'
import styles from '../tariffs.module.css'
import type { Step, Tariff } from '../tariffs.ts'

type Props = { tariff: Pick<Tariff, 'steps' | 'pricingModel' | 'currency'>; zone: string }

/** The steps of a tariff: the first count and the price. */
export function StepTable({ tariff: { steps, pricingModel, currency }, zone }: Props) {
  const { say } = useWords()
  const names = useTariffNames()
  const { price } = useTariffFormats(zone)
  const { money } = useFormats()
  const sign = useSign(currency)
  return (
    <table className={`${table.table} ${styles.steps}`}>
      <thead>
        <tr>
          <th>{names.counted(pricingModel)}</th>
          <th className={table.number}>{say('tariffs.pricePerPart', { sign })}</th>
          {pricingModel === 'MAU' && <th className={table.number}>{say('tariffs.package')}</th>}
        </tr>
      </thead>
      <tbody>
        {steps.map((step, place) => (
          <tr key={step.from}>
            <td className={table.title}>
              <Span step={step} next={steps[place + 1]} isFirst={place === 0} />
            </td>
            <td className={`${table.number} ${table.corner}`}>{price(step.price)}</td>
            {pricingModel === 'MAU' && (
              <td data-label={say('tariffs.package')} className={table.number}>
                {step.priceMauBatch === null ? '–' : money(step.priceMauBatch, currency)}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type SpanProps = { step: Step; next: Step | undefined; isFirst: boolean }

function Span({ step, next, isFirst }: SpanProps) {
  const { say } = useWords()
  const from = Math.max(step.from, 1)
  if (next) return say('tariffs.step', { from, to: next.from - 1 })
  return isFirst ? say('tariffs.everyStep') : say('tariffs.lastStep', { from })
}
