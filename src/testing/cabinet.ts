import fastify, { type InjectOptions, type RouteOptions } from 'fastify'
import type { Pool } from '../db/sql.ts'
import { acceptInvitation, invitePerson } from '../domain/people/people.ts'
import type { Place } from '../domain/people/person.ts'
import type { App } from '../http/app.ts'
import { registerCabinetApi } from '../http/cabinet/cabinet-api.ts'
import type { Needs } from '../http/cabinet/sign-in/access.ts'
import { inputsOf } from './routes.ts'

export const PASSWORD = 'correct horse battery'

let people = 0

/** A person who accepted the invitation, with PASSWORD. */
export async function aPerson(sql: Pool, place: Place, role: string, login = `person${++people}@example.com`) {
  const now = new Date()
  const { personId, token } = await sql.begin(tx => invitePerson(tx, place, { login, role }, now))
  await acceptInvitation(sql, token, PASSWORD, now)
  return { personId, login }
}

export const ofCompany = (companyId: number): Place => ({ kind: 'COMPANY', companyId, partnerId: null })
export const ofPartner = (partnerId: number): Place => ({ kind: 'PARTNER', companyId: null, partnerId })
export const staff: Place = { kind: 'STAFF', companyId: null, partnerId: null }

type Options = Pick<InjectOptions, 'headers' | 'remoteAddress'>

/** A browser of the cabinet, which keeps its cookie. */
export class CabinetBrowser {
  readonly #app: () => App
  cookie: string | undefined

  constructor(app: () => App) {
    this.#app = app
  }

  async ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object, options: Options = {}) {
    const response = await this.#app().inject({
      method,
      url: `/cabinet/api${path}`,
      ...(body === undefined ? {} : { payload: body }),
      remoteAddress: options.remoteAddress ?? '203.0.113.9',
      headers: {
        host: 'localhost:8080',
        ...(method === 'GET' ? {} : { origin: 'http://localhost:8080' }),
        ...(this.cookie === undefined ? {} : { cookie: this.cookie }),
        ...options.headers,
      },
    })
    const set = response.headers['set-cookie']
    if (set !== undefined) this.cookie = String(set).split(';', 1)[0]
    // biome-ignore lint/suspicious/noExplicitAny: each test checks the content
    const parsed: any = response.body === '' ? undefined : response.json()
    return { status: response.statusCode, body: parsed, headers: response.headers }
  }

  signIn = (login: string, password = PASSWORD, options?: Options) =>
    this.ask('POST', '/session', { login, password }, options)
}

/**
 * Every route of the cabinet except HEAD: its name like `GET /people`, its right, its inputs, and whether its query
 * may name a company.
 */
export async function cabinetRoutes(sql: Pool) {
  const routes: RouteOptions[] = []
  const app = fastify()
  app.addHook('onRoute', route => void routes.push(route))
  const context = { sql, clock: () => new Date(), publicUrl: 'http://localhost', secret: 'of no importance' }
  registerCabinetApi(app, { ...context, strangerBytes: { guard: () => {} } } as never)
  await app.ready()
  await app.close()
  return routes
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, url, config, schema }) => ({
      route: `${method} ${url.replace('/cabinet/api', '')}`,
      needs: config!.needs as Needs,
      inputs: inputsOf({ url, schema }),
      takesCompany: 'companyId' in ((schema?.querystring as { properties?: object })?.properties ?? {}),
    }))
}
