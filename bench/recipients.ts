import type { Recipient } from '../src/domain/dispatches/dispatch.ts'
import { brandFinder } from '../src/domain/numbering/brand.ts'
import { Numbering } from '../src/domain/numbering/lookup.ts'
import { includedPlan } from '../src/domain/numbering/plan.ts'
import type { Stage } from './stage.ts'

export const REQUEST_SIZE = 10_000

const TEXT = 'Уважаемый {name}, ваш заказ готов к выдаче. Сумма к оплате: {amount} руб. Ждём вас каждый день с 9 до 21!'
const NAMES = ['Иван', 'Анна', 'Пётр', 'Ольга', 'Константин', 'Мария', 'Юлия']
const OPERATORS = [1, 2, 3, 4]
const CODES = ['916', '903', '926', '977']

export const dispatchOf = ({ companyId, senderIds }: Stage, messages: Recipient[]) => ({
  companyId,
  name: 'Выдача заказов',
  senderIds,
  channelType: 'SMS',
  text: TEXT,
  messages,
})

/** Invented recipients, as many of each of the four operators. */
export function inventRecipients(count: number): Recipient[] {
  const numbering = new Numbering(1, includedPlan(), new Map(), brandFinder([]))
  return Array.from({ length: count }, (_, i) => ({
    destination: numberOf(numbering, OPERATORS[i % OPERATORS.length]!),
    substitutions: { name: NAMES[i % NAMES.length]!, amount: 1000 + (i % 9000) },
  }))
}

function numberOf(numbering: Numbering, brandId: number): string {
  for (;;) {
    const digits = `7${CODES[brandId - 1]}${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`
    if (!isTestNumber(digits) && numbering.lookup(digits)?.brandId === brandId) return digits
  }
}

/**
 * The simulated operators have plans of their own for these; one of them never reports, and a bench would wait for it.
 */
const isTestNumber = (digits: string) => /000\d$/.test(digits)
