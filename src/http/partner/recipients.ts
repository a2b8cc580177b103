import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalid } from '../../base/errors.ts'
import { normaliseNumber } from '../../base/phone/phone-number.ts'
import { addToBlacklist, removeFromBlacklist } from '../../domain/blacklist/blacklist.ts'
import { requireCompany } from '../../domain/companies/companies.ts'
import type { Context } from '../context.ts'
import { Answer, answers, Id } from '../schemas.ts'

const schema = {
  tags: ['Recipients'],
  summary: 'Put a number on the blacklist of a company, or take it off',
  body: Type.Object({
    companyId: Id,
    msisdn: Type.String(),
    blacklist: Type.Boolean(),
    comment: Type.Optional(Type.String({ maxLength: 2000 })),
  }),
  response: answers(
    200,
    'Where the number stands now',
    Answer({ msisdn: Type.String(), companyId: Id, blacklist: Type.Boolean() }),
  ),
}

export const recipientRoutes =
  ({ sql }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    api.put('/', { schema }, async request => {
      const { companyId, blacklist, comment } = request.body
      await requireCompany(sql, request.partner, companyId)
      const msisdn = normaliseNumber(request.body.msisdn)
      if (!msisdn) throw invalid('msisdn: must be a phone number of 5 to 15 digits')

      if (blacklist) await addToBlacklist(sql, companyId, msisdn, comment, 'API')
      else await removeFromBlacklist(sql, companyId, msisdn)
      return { msisdn, companyId, blacklist }
    })
  }
