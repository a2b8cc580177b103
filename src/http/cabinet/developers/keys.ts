import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalid } from '../../../base/errors.ts'
import type { Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import { MOST_ADDRESSES } from '../../../domain/keys/address-list.ts'
import { type Key, keyTypes, MOST_NAME } from '../../../domain/keys/key.ts'
import {
  activateKey,
  countKeys,
  createKey,
  deactivateKey,
  listKeys,
  lockKey,
  reissueKey,
  renameKey,
  restrictKey,
} from '../../../domain/keys/keys.ts'
import type { Owner } from '../../../domain/request-log/request.ts'
import { countRequests, lastUses } from '../../../domain/request-log/request-log.ts'
import { SHARED_NAME } from '../../../domain/routing/routing.ts'
import { listCenters } from '../../../domain/traffic-centers/traffic-centers.ts'
import { Id, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'

const Name = Type.String({ maxLength: MOST_NAME })
const Addresses = Type.Array(Type.String({ maxLength: 50 }), { maxItems: MOST_ADDRESSES })
const NewKey = Type.Object({
  type: OneOf(keyTypes),
  name: Type.Optional(Name),
  addresses: Type.Optional(Addresses),
  /** Name of the traffic center of a MESSAGE key. The route creates a center if the name is new. */
  center: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
})
/** `seen` are the values that the form showed. If another person changed them meanwhile, the change is refused. */
const Change = Type.Object({
  name: Type.Optional(Name),
  addresses: Type.Optional(Addresses),
  isActive: Type.Optional(Type.Boolean()),
  seen: Type.Optional(Type.Object({ name: Type.Optional(Name), addresses: Type.Optional(Addresses) })),
})
const ByKey = Type.Object({ keyId: Id })

/** Types of requests and answers, which the page imports. */
export type NewKey = Type.Static<typeof NewKey>
export type KeyChange = Type.Static<typeof Change>
export type ListedKey = ReturnType<typeof present>
export type KeysAnswer = {
  keys: ListedKey[]
  /** Names of the traffic centers. */
  centers: string[]
  /** For the example requests: the address of the messaging API, and a sender name that every company may use. */
  trial: { apiUrl: string; senderName: string }
  /** In the last 24 hours. */
  requests: number
  refused: number
}
/** The cabinet shows it only in this answer. */
export type ShownKeyAnswer = { keyId: number; key: string }

const DAY_MS = 24 * 3_600_000
const MOST_KEYS = 200

/** The API keys of one company. */
export const keyRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    keyListRoutes(api, context)
    keyChangeRoutes(api, context)
  }

/** Lists the keys with their last uses. */
function keyListRoutes(api: CabinetApi, { sql, clock, publicUrl }: CabinetContext) {
  api.get(
    '/keys',
    { config: { needs: 'developers.see' }, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<KeysAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const owner: Owner = { kind: 'COMPANY', id: companyId }
      const [keys, uses, counts, centers] = await Promise.all([
        listKeys(sql, companyId),
        lastUses(sql, companyId),
        countRequests(sql, owner, new Date(clock().getTime() - DAY_MS)),
        listCenters(sql, companyId),
      ])
      const countOf = new Map(counts.map(count => [count.keyId, count]))
      return {
        keys: keys.map(key => present(key, uses.get(key.keyId), countOf.get(key.keyId)?.requests)),
        centers: centers.map(({ name }) => name),
        trial: { apiUrl: `${publicUrl}/api/v1`, senderName: SHARED_NAME },
        requests: counts.reduce((sum, { requests }) => sum + requests, 0),
        refused: counts.reduce((sum, { refused }) => sum + refused, 0),
      }
    },
  )
}

/** Creates, changes and reissues keys. */
function keyChangeRoutes(api: CabinetApi, { sql }: CabinetContext) {
  api.post(
    '/keys',
    { config: { needs: 'developers.change' }, schema: { querystring: OfCompany, body: NewKey } },
    async ({ viewer, actor, query, body }, reply): Promise<ShownKeyAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const { type, ...options } = body
      const shown = await sql.begin(async tx => {
        if ((await countKeys(tx, companyId)) >= MOST_KEYS) throw invalid(`There are ${MOST_KEYS} keys already`)
        const made = await createKey(tx, companyId, type, options)
        const after = fieldsOf(await lockKey(tx, companyId, made.keyId))
        await recordChange(tx, actor, { what: 'key.created', ...subjectOf(companyId, made.keyId, after.name), after })
        return made
      })
      reply.code(201)
      return shown
    },
  )

  api.patch(
    '/keys/:keyId',
    { config: { needs: 'developers.change' }, schema: { querystring: OfCompany, params: ByKey, body: Change } },
    async ({ viewer, actor, query, params, body }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await sql.begin(tx => change(tx, actor, companyId, params.keyId, body))
      return reply.code(204).send()
    },
  )

  /** Gives the key a new value. The old value stops working at once. */
  api.post(
    '/keys/:keyId/reissue',
    { config: { needs: 'developers.change' }, schema: { querystring: OfCompany, params: ByKey } },
    async ({ viewer, actor, query, params }): Promise<ShownKeyAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      return sql.begin(async tx => {
        const { name } = await lockKey(tx, companyId, params.keyId)
        await recordChange(tx, actor, { what: 'key.reissued', ...subjectOf(companyId, params.keyId, name) })
        return reissueKey(tx, companyId, params.keyId)
      })
    },
  )
}

async function change(sql: Transaction, actor: Actor, companyId: number, keyId: number, wanted: KeyChange) {
  const before = await lockKey(sql, companyId, keyId)
  refuseStale(before, wanted)
  const { name, addresses, isActive } = wanted
  let after = before
  if (name !== undefined) after = await renameKey(sql, companyId, keyId, name)
  if (addresses !== undefined) after = await restrictKey(sql, companyId, keyId, addresses)
  const subject = subjectOf(companyId, keyId, after.name)
  const fields = { before: fieldsOf(before), after: fieldsOf(after) }
  await recordChange(sql, actor, { what: 'key.changed', ...subject, ...fields })
  if (isActive === undefined || isActive === before.active) return
  await (isActive ? activateKey : deactivateKey)(sql, companyId, keyId)
  const switched = { before: { active: before.active }, after: { active: isActive } }
  await recordChange(sql, actor, { what: isActive ? 'key.activated' : 'key.deactivated', ...subject, ...switched })
}

function refuseStale(key: Key, { seen }: KeyChange) {
  const isSame =
    (seen?.name ?? key.name) === key.name &&
    JSON.stringify(seen?.addresses ?? key.addresses) === JSON.stringify(key.addresses)
  if (!isSame) throw invalid('Somebody else changed this meanwhile: look at the new values and change them again')
}

const subjectOf = (companyId: number, keyId: number, name: string) => ({
  subject: { kind: 'key', id: keyId, name },
  companyId,
})

/** The fields that the audit log compares. */
const fieldsOf = ({ type, name, active, addresses, trafficCenterName }: Key) => ({
  type,
  name,
  active,
  addresses,
  trafficCenter: trafficCenterName,
})

const present = (key: Key, usedAt: Date | undefined, requests = 0) => ({
  keyId: key.keyId,
  type: key.type,
  name: key.name,
  isActive: key.active,
  addresses: key.addresses,
  center: key.trafficCenterName,
  createdAt: key.createdAt,
  usedAt: usedAt ?? null,
  /** In the last 24 hours. */
  requests,
})
