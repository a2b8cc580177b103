import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { moneyToNumber } from '../../base/money.ts'
import { balanceOf } from '../../domain/ledger/balance.ts'
import type { Context } from '../context.ts'
import { answers } from '../schemas.ts'

const AmountsByCurrency = Type.Unsafe<Record<string, number>>({
  type: 'object',
  additionalProperties: { type: 'number' },
  examples: [{ RUB: 12.5 }],
})

const schema = {
  tags: ['Account'],
  summary: 'Read the balance',
  description: 'The balance includes money that is reserved for messages in progress.',
  response: answers(200, 'The amount in each currency', AmountsByCurrency),
}

export const balanceRoutes =
  ({ sql }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.get('/balance', { schema }, async request => {
      const { balance, currency } = await balanceOf(sql, request.caller.companyId)
      return { [currency]: moneyToNumber(balance) }
    })
  }
