import { NumberInput } from '@mantine/core'
import { useFormats } from '../format.ts'
import { useWords } from '../words/words.ts'

type Props = { value: string | number; onChange(value: string | number): void }

/** The budget of a company for a month. Empty means no limit. */
export function BudgetField({ value, onChange }: Props) {
  const { say } = useWords()
  const { separators } = useFormats()
  return (
    <NumberInput
      label={say('companies.field.budget')}
      description={say('companies.field.budget.note')}
      min={0}
      max={999_999_999_999}
      decimalScale={2}
      {...separators}
      hideControls
      value={value}
      onChange={onChange}
    />
  )
}
