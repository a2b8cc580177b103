import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { trafficTypes } from '../../base/channel-types.ts'
import { moneyToNumber } from '../../base/money.ts'
import { listSenderFees, listTariffs } from '../../domain/pricing/pricing.ts'
import { pricingModels, type Tariff } from '../../domain/pricing/tariff.ts'
import { senderTypes } from '../../domain/senders/sender.ts'
import type { Context } from '../context.ts'
import { Answer, answers, Nullable, OneOf } from '../schemas.ts'

const TariffAnswer = Answer({
  senderType: OneOf(senderTypes),
  brand: Type.Optional(Type.String()),
  trafficType: Type.Optional(OneOf(trafficTypes)),
  pricingModel: OneOf(pricingModels),
  currency: Type.String(),
  prices: Type.Array(Answer({ from: Type.Integer(), price: Type.Number(), priceMauBatch: Nullable(Type.Number()) }), {
    minItems: 1,
  }),
})

const tags = ['Prices']

const schemas = {
  tariffs: {
    tags,
    summary: 'Traffic tariffs',
    querystring: Type.Object({
      senderType: Type.Optional(OneOf(senderTypes)),
      brand: Type.Optional(Type.String()),
      trafficType: Type.Optional(OneOf(trafficTypes)),
      pricingModel: Type.Optional(OneOf(pricingModels)),
    }),
    response: answers(200, 'The tariffs that the filters leave', Answer({ tariffs: Type.Array(TariffAnswer) })),
  },
  senders: {
    tags,
    summary: 'Monthly fees of sender names',
    response: answers(
      200,
      'The fees by operator',
      Answer({
        senderFees: Type.Array(Answer({ brand: Type.String(), value: Type.Number(), currency: Type.String() })),
      }),
    ),
  },
}

export const priceRoutes =
  ({ sql }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.get('/tariffs', { schema: schemas.tariffs }, async request => {
      const tariffs = await listTariffs(sql, request.partner.partnerId, request.query)
      return { tariffs: tariffs.map(presentTariff) }
    })

    api.get('/senders', { schema: schemas.senders }, async () => {
      const fees = await listSenderFees(sql)
      return { senderFees: fees.map(fee => ({ ...fee, value: moneyToNumber(fee.value) })) }
    })
  }

const presentTariff = (tariff: Tariff) => ({
  senderType: tariff.senderType,
  ...(tariff.brand === null ? {} : { brand: tariff.brand }),
  ...(tariff.trafficType === null ? {} : { trafficType: tariff.trafficType }),
  pricingModel: tariff.pricingModel,
  currency: tariff.currency,
  prices: tariff.steps.map(step => ({
    from: step.from,
    price: moneyToNumber(step.price),
    priceMauBatch: step.priceMauBatch === null ? null : moneyToNumber(step.priceMauBatch),
  })),
})
