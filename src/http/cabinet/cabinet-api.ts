import type { FastifyInstance } from 'fastify'
import { SecondFactors } from '../../domain/people/second-factor.ts'
import type { Context } from '../context.ts'
import type { StrangerBytes } from '../server/stranger-bytes.ts'
import type { CabinetContext } from './cabinet-context.ts'
import { companyRoutes } from './companies/companies.ts'
import { companyListRoutes } from './companies/company-list.ts'
import { partnerRoutes } from './companies/partners.ts'
import { peopleRoutes } from './companies/people.ts'
import { callbackLogRoutes } from './developers/callback-log.ts'
import { keyRoutes } from './developers/keys.ts'
import { requestLogRoutes } from './developers/request-log.ts'
import { dispatchRoutes } from './dispatches/dispatches.ts'
import { newDispatchRoutes } from './dispatches/new-dispatch.ts'
import { blacklistRoutes } from './messages/blacklist.ts'
import { inboundRoutes } from './messages/inbound.ts'
import { linkRoutes } from './messages/links.ts'
import { messageRoutes } from './messages/messages.ts'
import { sendRoutes } from './messages/send.ts'
import { moneyRoutes } from './money/money.ts'
import { liveRoutes } from './overview/live.ts'
import { overviewRoutes } from './overview/overview.ts'
import { documentRoutes } from './senders/documents.ts'
import { reviewRoutes } from './senders/review.ts'
import { senderRoutes } from './senders/senders.ts'
import { templateRoutes } from './senders/templates.ts'
import { auditRoutes } from './service/audit.ts'
import { gatewayRoutes } from './service/gateways.ts'
import { healthRoutes } from './service/health.ts'
import { numberingRoutes } from './service/numbering.ts'
import { guardCabinet } from './sign-in/access.ts'
import { accountRoutes } from './sign-in/account.ts'
import { SessionCookie } from './sign-in/cookie.ts'
import { sessionRoutes } from './sign-in/session.ts'
import { otherPriceRoutes } from './tariffs/other-prices.ts'
import { priceRoutes } from './tariffs/prices.ts'
import { tariffRoutes } from './tariffs/tariffs.ts'
import { verificationRoutes } from './verification/verification.ts'

const PREFIX = '/cabinet/api'

/** The API of the cabinet's pages. It is closed by default: every route states the right that it needs. */
export function registerCabinetApi(app: FastifyInstance, given: Context & { strangerBytes: StrangerBytes }) {
  const cookie = new SessionCookie(given.publicUrl)
  const secondFactors = new SecondFactors(given.sql, given.secret)
  const context: CabinetContext = { ...given, cookie, secondFactors }
  app.register(
    async scope => {
      guardCabinet(scope, context, cookie)
      given.strangerBytes.guard(scope)
      await scope.register(sessionRoutes(context))
      await scope.register(accountRoutes(context))
      await scope.register(peopleRoutes(context))
      await scope.register(companyRoutes(context))
      await scope.register(companyListRoutes(context))
      await scope.register(partnerRoutes(context))
      await scope.register(auditRoutes(context))
      await scope.register(blacklistRoutes(context))
      await scope.register(inboundRoutes(context))
      await scope.register(linkRoutes(context))
      await scope.register(messageRoutes(context))
      await scope.register(overviewRoutes(context))
      await scope.register(dispatchRoutes(context))
      await scope.register(gatewayRoutes(context))
      await scope.register(healthRoutes(context))
      await scope.register(liveRoutes(context))
      await scope.register(newDispatchRoutes(context))
      await scope.register(moneyRoutes(context))
      await scope.register(verificationRoutes(context))
      await scope.register(tariffRoutes(context))
      await scope.register(otherPriceRoutes(context))
      await scope.register(priceRoutes(context))
      await scope.register(senderRoutes(context))
      await scope.register(templateRoutes(context))
      await scope.register(reviewRoutes(context))
      await scope.register(sendRoutes(context))
      await scope.register(keyRoutes(context))
      await scope.register(callbackLogRoutes(context))
      await scope.register(requestLogRoutes(context))
      await scope.register(numberingRoutes(context))
    },
    { prefix: PREFIX },
  )
  // The limits for bodies of strangers do not apply: the guard knows the person before the body is read.
  app.register(
    async scope => {
      guardCabinet(scope, context, cookie)
      await scope.register(documentRoutes(context))
    },
    { prefix: PREFIX },
  )
}
