import { Radio } from '@mantine/core'
import { useState } from 'react'
import type { CorrectionForm } from '../../../../src/http/cabinet/money/money.ts'
import radio from '../../parts/forms/radio-choice.module.css'
import { oneOf } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'
import type { Money } from '../money.ts'
import { BalanceDialog, type BalanceDialogProps } from './balance-dialog.tsx'

const directions = ['take', 'add'] as const
type Direction = (typeof directions)[number]
const labels = { take: 'money.correction.take', add: 'money.correction.add' } as const

/** Corrects a wrong top-up. The correction of a prepaid company cannot take reserved money. */
export function CorrectionDialog(props: BalanceDialogProps) {
  const { say } = useWords()
  const [direction, setDirection] = useState<Direction>('take')
  const isTaken = direction === 'take'
  return (
    <BalanceDialog
      {...props}
      kind="correction"
      path="corrections"
      isTaken={isTaken}
      mostTaken={isTaken && props.money.billing === 'PREPAID' ? freeOfBalance(props.money) : undefined}
      isNoteNeeded
      formOf={(amount, reason): CorrectionForm => ({ amount: isTaken ? `-${amount}` : amount, reason })}
    >
      <Radio.Group
        label={say('money.correction.direction')}
        value={direction}
        onChange={value => setDirection(oneOf(directions, value) ?? direction)}
      >
        {directions.map(value => (
          <Radio key={value} size="xs" value={value} classNames={radio} label={say(labels[value])} />
        ))}
      </Radio.Group>
    </BalanceDialog>
  )
}

const freeOfBalance = ({ balance, reserved }: Money) => Math.max(0, Math.round((balance - reserved) * 10_000) / 10_000)
