import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { App } from '../http/app.ts'

/** A route of the service with the names of all its inputs. */
export type Route = {
  /** `GET /partner/v1/company/:id` */
  name: string
  method: string
  url: string
  /** `:id`, `?companyId`, `body.senderIds`, `body.messages[].destination` */
  inputs: string[]
  /** Of its path, query, headers and body. */
  schemas: Record<string, unknown>[]
}

/** Every route of the apps that `build` makes. Routes for HEAD that belong to GET are left out. */
export async function collectRoutes(build: () => Promise<App>): Promise<{ app: App; routes: Route[] }> {
  const found: RouteOptions[] = []
  const watch = (made: unknown) => {
    ;(made as { fastify: FastifyInstance }).fastify.addHook('onRoute', route => void found.push(route))
  }
  subscribe('fastify.initialization', watch)
  try {
    const app = await build()
    await app.ready()
    return { app, routes: found.flatMap(routesIn) }
  } finally {
    unsubscribe('fastify.initialization', watch)
  }
}

const routesIn = (route: RouteOptions): Route[] =>
  [route.method]
    .flat()
    .filter(method => method !== 'HEAD')
    .map(method => ({
      name: `${method} ${route.url}`,
      method,
      url: route.url,
      inputs: inputsOf(route),
      schemas: schemasOf(route),
    }))

function schemasOf({ schema }: RouteOptions): Route['schemas'] {
  const { content } = (schema?.body ?? {}) as { content?: Record<string, { schema: unknown }> }
  const bodies = content ? Object.values(content).map(({ schema }) => schema) : [schema?.body]
  const all = [schema?.params, schema?.querystring, schema?.headers, ...bodies]
  return all.filter(schema => schema !== undefined) as Route['schemas']
}

export function inputsOf({ url, schema }: Pick<RouteOptions, 'url' | 'schema'>): string[] {
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([whole]) => whole)
  const inQuery = pathsIn(schema?.querystring as Schema).map(path => `?${path}`)
  const inBody = pathsIn(bodyOf(schema?.body as Schema)).map(path => `body.${path}`)
  return [...new Set([...inPath, ...inQuery, ...inBody])]
}

type Schema =
  | {
      anyOf?: Schema[]
      oneOf?: Schema[]
      allOf?: Schema[]
      items?: Schema
      properties?: Record<string, Schema>
      content?: Record<string, { schema: Schema }>
    }
  | undefined

/** A body that may be JSON or a form has the JSON in its form, too. */
const bodyOf = (schema: Schema): Schema => schema?.content?.['application/json']?.schema ?? schema

function pathsIn(schema: Schema, path = ''): string[] {
  const { anyOf = [], oneOf = [], allOf = [], items, properties = {} } = schema ?? {}
  const inForms = [...anyOf, ...oneOf, ...allOf].flatMap(form => pathsIn(form, path))
  const inItems = items ? pathsIn(items, `${path}[]`) : []
  const inside = Object.entries(properties).flatMap(([name, inner]) => {
    const full = [path, name].filter(step => step !== '').join('.')
    return [full, ...pathsIn(inner, full)]
  })
  return [...inForms, ...inItems, ...inside]
}

/** Names of inputs that choose an object of a company or partner, by their last step. */
const namesOfIds = words(`
  :callbackId :code :companyId :dispatchId :documentId :gatewayId :id :keyId :lineId :msisdn :partnerId :personId :ruleId
  :senderId :tariffId :templateId :testId :uploadId :uuid
  cascade_message_uuid center centerId companies companyId dispatchId dispatch_id ?dispatch dispatches documentIds
  external_message_id gatewayId key ?message message_uuid messageUuid partnerId ?person ?q receiver requestId secret
  senderId senderIds senderNameId ?subject subject template_id token traffic_center_id uuid uuids verifier widgetId`)

/** Names of inputs that are values: a wrong value harms only the object that the request is about. */
const namesOfValues = words(`
  :action :day :kind :month :piece
  FLASHCALL SMS TELEGRAM TELEGRAM_GATEWAY VIBER VOICECODE WHATSAPP accent accentDark actualAddress addresses after amount
  androidHash before billing blacklist brand brandId brands budget callbackEvents callbackUrl captcha captchaSecret
  captchaSiteKey cascade channel channelType channel_type channels clientIp code codeLength comment commonType company
  condition connector content content_nor counteragentAddress counteragentInn counteragentKpp counteragentType countries
  country countryCode countryId country_code customText dateFrom dateTo days decision description destination direction
  dispatch download dryRun error externalId externalMessageId fallbackSeconds file fileName format from hours inbound inn
  isActive isBuilder kind lang language leastConfirmed lifetimeSeconds limits localCompletionTime localSendTime login look
  messages method msisdn name newerThan note number numbers olderThan operator order origins page parts partsPerSecond
  password pattern pauseSeconds perAddress perCompany perNumber perPage perPrefix perVerifier per_page price priceMauBatch
  pricingModel radiusPixels rate rateTerm ready_to_stop reason recipients replaces result role root schedule search seen
  sender senderName senderNames senderType sender_name senders sending_method settings shortUrl sizeBytes sort startAt state
  status steps subscribers substitutions tags tariff templateType template_type text texts theme time_from time_to to total
  trafficType traffic_type tries ttl type updatedAt url useLocalTime value version volume webOtpHost what zone`)

function words(text: string): Set<string> {
  return new Set(text.trim().split(/\s+/))
}

/** Whether an input chooses an object that another company or partner may own. Undefined for a name that is in no list. */
export function isId(input: string): boolean | undefined {
  const last = input.split(/\.|\[\]\.?/).findLast(step => step !== '')!
  const names = [last, last.replace('?', '')]
  if (names.some(name => namesOfIds.has(name))) return true
  return names.some(name => namesOfValues.has(name)) ? false : undefined
}
