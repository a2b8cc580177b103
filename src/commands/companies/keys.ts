import { UsageError } from '../../base/errors.ts'
import type { Pool } from '../../db/sql.ts'
import type { AuditAction } from '../../domain/audit-log/entry.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { refusalOfAddresses } from '../../domain/keys/address-list.ts'
import { type Key, keyTypes } from '../../domain/keys/key.ts'
import {
  activateKey,
  companyOfKey,
  createKey,
  deactivateKey,
  listAllKeys,
  listKeys,
  reissueKey,
  restrictKey,
  type ShownKey,
} from '../../domain/keys/keys.ts'
import { refusalOfCenterName } from '../../domain/traffic-centers/traffic-center.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { given, idOption } from '../command-line.ts'
import { choiceOption, optionalId } from '../options.ts'
import { type Record, recorded } from '../recorded.ts'
import { table } from '../table.ts'

export async function createOne(call: Call) {
  const companyId = idOption(call, 'company')
  const type = given(choiceOption(call, 'type', keyTypes), '--type')
  const center = centerOption(call)
  const list = addressesOption(call)
  if (center !== undefined && type !== 'MESSAGE') throw new UsageError('--center is for keys of the type MESSAGE only.')
  const options = { ...(list === undefined ? {} : { addresses: list }), ...(center === undefined ? {} : { center }) }
  await withDatabase(call.config, async ({ sql }) => {
    const made = recorded(sql, async (tx, record) => {
      const shown = await tx.begin(inner => createKey(inner, companyId, type, options))
      const after = fieldsOf(await keyWithId(tx, companyId, shown.keyId))
      await record({ what: 'key.created', ...subjectOf(companyId, shown.keyId), after })
      return shown
    })
    printValue(call, await orAdvise(noCompany(companyId), made))
  })
}

function centerOption(call: Call): string | undefined {
  const { center } = call.options
  const refusal = center === undefined ? undefined : refusalOfCenterName(center)
  if (refusal) throw new UsageError(`--center ${refusal}.`)
  return center
}

/** None for `any`; undefined when it is not given. */
function addressesOption(call: Call): string[] | undefined {
  const text = call.options.addresses
  if (text === undefined) return undefined
  if (text.trim().toLowerCase() === 'any') return []
  const entries = text.split(',').map(entry => entry.trim())
  const refusal = refusalOfAddresses(entries)
  if (refusal) throw new UsageError(`--addresses ${refusal}.`)
  return entries
}

const printValue = (call: Call, shown: ShownKey) =>
  call.print(shown, `Key ${shown.keyId}: ${shown.key}\nKeep it: it is not shown again.`)

export async function listSome(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const keys = companyId === undefined ? await listAllKeys(sql) : await listKeys(sql, companyId)
    call.print(keys.map(present), tableOf(keys))
  })
}

export async function restrictOne(call: Call) {
  const list = given(addressesOption(call), '--addresses')
  await changeOne(call, 'key.changed', (sql, companyId, keyId) => restrictKey(sql, companyId, keyId, list))
}

export const deactivateOne = (call: Call) => changeOne(call, 'key.deactivated', deactivateKey)
export const activateOne = (call: Call) => changeOne(call, 'key.activated', activateKey)

export const reissueOne = (call: Call) =>
  onKey(call, async (sql, companyId, keyId, record) => {
    const shown = await reissueKey(sql, companyId, keyId)
    await record({ what: 'key.reissued', ...subjectOf(companyId, keyId) })
    return () => printValue(call, shown)
  })

const changeOne = (
  call: Call,
  what: AuditAction,
  change: (sql: Pool, companyId: number, keyId: number) => Promise<Key>,
) =>
  onKey(call, async (sql, companyId, keyId, record) => {
    const before = await keyWithId(sql, companyId, keyId)
    const changed = await change(sql, companyId, keyId)
    await record({ what, ...subjectOf(companyId, keyId), before: fieldsOf(before), after: fieldsOf(changed) })
    return () => call.print(present(changed), sentenceAbout(changed))
  })

type Work = (sql: Pool, companyId: number, keyId: number, record: Record) => Promise<() => void>

/** The work returns a function that is called when its change is committed. */
async function onKey(call: Call, work: Work) {
  const keyId = idOption(call, 'key')
  await withDatabase(call.config, async ({ sql }) => {
    const companyId = await orAdvise(noKey(keyId), companyOfKey(sql, keyId))
    const print = await recorded(sql, (tx, record) => work(tx, companyId, keyId, record))
    print()
  })
}

const keyWithId = async (sql: Pool, companyId: number, keyId: number): Promise<Key> =>
  (await listKeys(sql, companyId)).find(key => key.keyId === keyId)!

const subjectOf = (companyId: number, keyId: number) => ({ subject: { kind: 'key', id: keyId }, companyId })

/** The fields that the audit log compares. */
const fieldsOf = ({ type, active, addresses, trafficCenterName }: Key) => ({
  type,
  active,
  addresses,
  trafficCenter: trafficCenterName,
})

const noKey = (keyId: number) => `There is no key ${keyId}: \`tidings key list\` shows them.`

const sentenceAbout = ({ keyId, active, addresses }: Key) =>
  `Key ${keyId} is ${active ? 'active' : 'deactivated'} and may be used from ${addresses.join(', ') || 'anywhere'}.`

const present = (key: Key) => ({ ...key, createdAt: key.createdAt.toISOString() })

const tableOf = (keys: Key[]) =>
  table(
    ['ID', 'COMPANY', 'TYPE', 'STATE', 'CENTER', 'CREATED', 'ADDRESSES'],
    keys.map(k => [
      k.keyId,
      k.companyId,
      k.type,
      k.active ? 'active' : 'deactivated',
      k.trafficCenterName,
      k.createdAt.toISOString().slice(0, 10),
      k.addresses.join(',') || 'any',
    ]),
  )
