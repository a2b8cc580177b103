import { NumberInput } from '@mantine/core'
import { useWords } from '../words/words.ts'

type Props = { value: string | number; onChange(value: string | number): void }

/** The most that a company may spend in a month; empty means no limit. */
export function BudgetField({ value, onChange }: Props) {
  const { say, language } = useWords()
  return (
    <NumberInput
      label={say('companies.field.budget')}
      description={say('companies.field.budget.note')}
      min={0}
      max={999_999_999_999}
      decimalScale={2}
      thousandSeparator={language === 'ru' ? '\u00a0' : ','}
      decimalSeparator={language === 'ru' ? ',' : '.'}
      hideControls
      value={value}
      onChange={onChange}
    />
  )
}
