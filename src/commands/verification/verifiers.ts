import { AppError, UsageError } from '../../base/errors.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { senderFor, type Verifier } from '../../domain/verifiers/verifier.ts'
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
import { idOption } from '../command-line.ts'
import { optionalId } from '../options.ts'
import { details, table } from '../table.ts'
import { settingsOf } from './settings.ts'

export async function createOne(call: Call) {
  const companyId = idOption(call, 'company')
  const options = { ...nameOf(call), settings: settingsOf(call) }
  await withDatabase(call.config, async ({ sql }) => {
    const made = sql.begin(tx => createVerifier(tx, companyId, 'API', options)) as Promise<string>
    const gatewayId = await orAdvise(noCompany(companyId), namingOptions(made))
    call.print({ gatewayId }, `Verifier ${gatewayId} of company ${companyId}.`)
  })
}

export async function listSome(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const verifiers = companyId === undefined ? listAllVerifiers(sql, 'API') : listVerifiers(sql, companyId, 'API')
    call.print((await verifiers).map(present), tableOf(await verifiers))
  })
}

export async function showOne(call: Call) {
  const gatewayId = call.options.gateway!
  await withDatabase(call.config, async ({ sql }) => {
    const verifier = await orAdvise(noVerifier(gatewayId), requireAnyVerifier(sql, 'API', gatewayId))
    call.print(present(verifier), detailsOf(verifier))
  })
}

export async function changeOne(call: Call) {
  const gatewayId = call.options.gateway!
  await withDatabase(call.config, async ({ sql }) => {
    const before = await orAdvise(noVerifier(gatewayId), requireAnyVerifier(sql, 'API', gatewayId))
    const options = { ...nameOf(call), settings: settingsOf(call, before.settings) }
    await namingOptions(changeVerifier(sql, before, options))
    const verifier = await requireAnyVerifier(sql, 'API', gatewayId)
    call.print(present(verifier), detailsOf(verifier))
  })
}

export async function deleteOne(call: Call) {
  const gatewayId = call.options.gateway!
  await withDatabase(call.config, async ({ sql }) => {
    const verifier = await orAdvise(noVerifier(gatewayId), requireAnyVerifier(sql, 'API', gatewayId))
    await deleteVerifier(sql, verifier)
    call.print({ gatewayId }, `Verifier ${gatewayId} is deleted.`)
  })
}

export const noVerifier = (gatewayId: string) =>
  `There is no verifier "${gatewayId}": \`tidings verifier list\` shows them.`

export const nameOf = ({ options: { name } }: Call) => (name === undefined ? {} : { name })

/** The domain names settings as the options do. */
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

const tableOf = (verifiers: Verifier[]) =>
  table(
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
    ['Code', `${s.codeLength} digits, good for ${s.lifetimeSeconds} s, ${s.tries} tries`],
    ['Pause', `${s.pauseSeconds} s between two codes for one number`],
    ...Object.entries(s.texts).map(([language, text]): [string, string] => [`Text ${language}`, text]),
    ['Countries', s.countries.length > 0 ? s.countries.join(', ') : 'all'],
    ['WebOTP host', s.webOtpHost ?? off],
    ['Android hash', s.androidHash ?? off],
    ['Callback URL', s.callbackUrl ?? off],
    ['Codes a day', `${s.limits.perNumber} for a number`],
    [
      'Codes an hour',
      `${s.limits.perAddress} for an address, ${s.limits.perPrefix} for a prefix, ${s.limits.perVerifier} in all, ` +
        `${s.limits.perCompany} of the company`,
    ],
    ['Least confirmed', `${s.limits.leastConfirmed * 100} % of a prefix`],
  ]
}
