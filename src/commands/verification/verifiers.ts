import { AppError, UsageError } from '../../base/errors.ts'
import type { Pool } from '../../db/sql.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { needsNoRegistration, whyUnusable } from '../../domain/routing/routing.ts'
import { sendersByNames } from '../../domain/senders/senders.ts'
import { fieldsOf, subjectOf } from '../../domain/verification/changes.ts'
import {
  defaultSettings,
  senderFor,
  type Verifier,
  type VerifierSettings,
  verifierChannels,
} from '../../domain/verifiers/verifier.ts'
import {
  changeVerifier,
  createVerifier,
  deleteVerifier,
  listAllVerifiers,
  listVerifiers,
  requireAnyVerifier,
} from '../../domain/verifiers/verifiers.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption, textOption } from '../command-line.ts'
import { optionalId } from '../options.ts'
import { recorded } from '../recorded.ts'
import { details, table } from '../table.ts'
import { settingsOf } from './settings.ts'

export async function createOne(call: Call) {
  const companyId = idOption(call, 'company')
  const options = { ...nameOf(call), settings: withChannels(settingsOf(call)) }
  await withDatabase(call.config, async ({ sql }) => {
    const made = recorded(sql, async (tx, record) => {
      const verifierId = await tx.begin(inner => createVerifier(inner, companyId, 'API', options))
      const created = await requireAnyVerifier(tx, 'API', verifierId)
      await record({ what: 'verifier.created', ...subjectOf(created), after: fieldsOf(created) })
      return verifierId
    })
    const gatewayId = await orAdvise(noCompany(companyId), namingOptions(made))
    const verifier = await requireAnyVerifier(sql, 'API', gatewayId)
    const lines = [
      `Verifier ${gatewayId} of company ${companyId} sends codes by ${verifier.settings.channels.join(', ')}.`,
      `To send one: POST /verifier/send with "gatewayId": "${gatewayId}" and a key of the type VERIFIER, which`,
      `\`tidings key create --company ${companyId} --type VERIFIER\` makes.`,
      ...(await nameNotes(sql, verifier)),
    ]
    call.print({ gatewayId }, lines.join('\n'))
  })
}

/**
 * Without --channels, every channel with a sender name may be used: each request names its channel. A fallback follows
 * the order of the channels, so it is not left to the default.
 */
function withChannels(settings: Partial<VerifierSettings>): Partial<VerifierSettings> {
  if (settings.channels) return settings
  if (typeof settings.fallbackSeconds === 'number')
    throw new UsageError('--fallback needs --channels with two channels or more in their order, such as SMS,VOICECODE.')
  const whole = { ...defaultSettings, ...settings }
  return { ...settings, channels: verifierChannels.filter(channel => senderFor(whole, channel) !== undefined) }
}

export async function listSome(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const verifiers = companyId === undefined ? listAllVerifiers(sql, 'API') : listVerifiers(sql, companyId, 'API')
    call.print((await verifiers).map(present), tableOf(await verifiers) ?? noneYet)
  })
}

export async function showOne(call: Call) {
  const gatewayId = textOption(call, 'gateway')
  await withDatabase(call.config, async ({ sql }) => {
    const verifier = await orAdvise(noVerifier(gatewayId), requireAnyVerifier(sql, 'API', gatewayId))
    call.print(present(verifier), detailsOf(verifier))
  })
}

export async function changeOne(call: Call) {
  const gatewayId = textOption(call, 'gateway')
  if (nameOf(call).name === undefined && Object.keys(settingsOf(call)).length === 0)
    throw new UsageError('There is nothing to change: `tidings verifier set --help` shows the options.')
  await withDatabase(call.config, async ({ sql }) => {
    const found = await orAdvise(noVerifier(gatewayId), requireAnyVerifier(sql, 'API', gatewayId))
    const change = (before: Verifier) => ({ ...nameOf(call), settings: settingsOf(call, before.settings) })
    const verifier = await recorded(sql, async (tx, record) => {
      await namingOptions(changeVerifier(tx, found, change))
      const changed = await requireAnyVerifier(tx, 'API', gatewayId)
      await record({ what: 'verifier.changed', ...subjectOf(found), before: fieldsOf(found), after: fieldsOf(changed) })
      return changed
    })
    const notes = await nameNotes(sql, verifier)
    call.print(present(verifier), [detailsOf(verifier), ...notes].join('\n'))
  })
}

export async function deleteOne(call: Call) {
  const gatewayId = textOption(call, 'gateway')
  await withDatabase(call.config, async ({ sql }) => {
    const verifier = await orAdvise(noVerifier(gatewayId), requireAnyVerifier(sql, 'API', gatewayId))
    await recorded(sql, async (tx, record) => {
      await deleteVerifier(tx, verifier)
      await record({ what: 'verifier.deleted', ...subjectOf(verifier), before: fieldsOf(verifier) })
    })
    call.print({ gatewayId }, `Verifier ${gatewayId} is deleted. Codes that were sent can still be checked.`)
  })
}

export const noVerifier = (gatewayId: string) =>
  `There is no verifier "${gatewayId}": \`tidings verifier list\` shows them.`

export const nameOf = ({ options: { name } }: Call) => (name === undefined ? {} : { name })

/** Sender names under which no code can go yet, with the reason; the first code would be refused for it. */
export async function nameNotes(sql: Pool, { companyId, settings }: Verifier): Promise<string[]> {
  const named = settings.channels.map(channelType => ({ channelType, senderName: senderFor(settings, channelType)! }))
  const names = named.filter(({ channelType, senderName }) => !needsNoRegistration(channelType, senderName))
  const found = await sendersByNames(
    sql,
    companyId,
    names.map(({ senderName }) => senderName),
  )
  return names.flatMap(name => {
    const registered = found.filter(
      each => each.channelType === name.channelType && each.senderName === name.senderName,
    )
    if (registered.some(({ status, suspended }) => status === 'APPROVED' && !suspended)) return []
    return `Codes by ${name.channelType} are refused for now: ${whyUnusable(name, registered)} in company ${companyId}.`
  })
}

/** The domain's sentence begins with the name of the option. */
export async function namingOptions<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError && error.kind === 'invalid' ? new UsageError(`--${error.message}.`) : error
  }
}

const present = ({ verifierId, companyId, name, settings, createdAt }: Verifier) => ({
  gatewayId: verifierId,
  companyId,
  name,
  ...settings,
  createdAt,
})

const noneYet = 'There are no verifiers: `tidings verifier create --company N` makes one.'

const tableOf = (verifiers: Verifier[]): string | undefined => {
  if (verifiers.length === 0) return undefined
  return table(
    ['GATEWAY ID', 'COMPANY', 'NAME', 'CHANNELS', 'DIGITS', 'LIFETIME', 'TRIES'],
    verifiers.map(({ verifierId, companyId, name, settings: s }) => [
      verifierId,
      companyId,
      name,
      s.channels.join(','),
      s.codeLength,
      `${s.lifetimeSeconds} s`,
      s.tries,
    ]),
  )
}

const detailsOf = (verifier: Verifier) =>
  details([
    ['Gateway id', verifier.verifierId],
    ['Company', verifier.companyId],
    ['Name', verifier.name],
    ...settingLines(verifier),
  ])

/** The settings of codes, a line each. */
export function settingLines({ settings: s }: Verifier): [string, string | number][] {
  const off = 'off'
  return [
    ['Channels', s.channels.map(channel => `${channel} as ${senderFor(s, channel)}`).join(', ')],
    [
      'Fallback',
      s.fallbackSeconds === null ? off : `to the next channel after ${s.fallbackSeconds} s without delivery`,
    ],
    [
      'Code',
      `${s.codeLength} digits, valid for ${s.lifetimeSeconds} s, ${s.tries === 1 ? '1 try' : `${s.tries} tries`}`,
    ],
    ['Pause', `${s.pauseSeconds} s after the first code for a number, doubled after each code that is not confirmed`],
    ...Object.entries(s.texts).map(([language, text]): [string, string] => [`Text ${language}`, text]),
    ['Countries', s.countries.length > 0 ? s.countries.join(', ') : 'all'],
    ['WebOTP host', s.webOtpHost ?? off],
    ['Android hash', s.androidHash ?? off],
    ['Callback URL', s.callbackUrl ?? off],
    ['Most in a day', `${s.limits.perNumber} codes for a number`],
    [
      'Most in an hour',
      `${s.limits.perAddress} for an address, ${s.limits.perPrefix} for a prefix, ${s.limits.perVerifier} of this ` +
        `verifier, ${s.limits.perCompany} of the company`,
    ],
    ['Least confirmed', `${Number((s.limits.leastConfirmed * 100).toFixed(2))} % of the codes for a prefix`],
  ]
}
