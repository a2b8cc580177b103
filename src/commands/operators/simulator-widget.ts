import { UsageError } from '../../base/errors.ts'
import type { Database } from '../../db/database.ts'
import type { SessionView } from '../../domain/verification/widget-sessions.ts'
import { verifierChannels } from '../../domain/verifiers/verifier.ts'
import { SEND_WITHIN_SECONDS, widgetIdIn } from '../../domain/widgets/sessions.ts'
import type { CaptchaForBrowser } from '../../http/widget/captcha/captcha.ts'
import { solutionOf } from '../../http/widget/captcha/solve.ts'
import { type Call, withDatabase } from '../command.ts'
import { textOption } from '../command-line.ts'
import { choiceOption } from '../options.ts'
import { requireWidget } from '../verification/widgets.ts'
import { keepSession, keptSession } from './browser-secrets.ts'
import { findService, type WidgetService } from './widget-service.ts'

type Opened = { captcha: CaptchaForBrowser; isBuilder: boolean }
type State = SessionView & { result?: string }

/** One run of the command: a browser on one page. */
type Browser = { service: WidgetService; origin: string }

export async function playWidget(call: Call) {
  const step = stepOf(call)
  await withDatabase(call.config, async database => {
    const service = await findService(call.config, database, call.options.url)
    try {
      await step(call, database, service)
    } finally {
      await service.close()
    }
  })
}

type Step = (call: Call, database: Database, service: WidgetService) => Promise<void>

function stepOf({ options, switches }: Call): Step {
  const { widget, destination, key, code } = options
  if (key === undefined) {
    if (widget === undefined || destination === undefined)
      throw new UsageError('Give --widget ID and --destination NUMBER to begin, or --key KEY to continue.')
    if (code !== undefined || switches.again) throw new UsageError('--code and --again need --key KEY.')
    return beginSession
  }
  if (destination !== undefined) throw new UsageError('--destination does not go with --key: a session has its number.')
  if (widget !== undefined && widget !== widgetIdIn(key)) throw new UsageError(`The key is not of widget "${widget}".`)
  if (code !== undefined && switches.again) throw new UsageError('--code and --again do not go together.')
  if (switches.again) return askAgain
  return code === undefined ? showState : typeCode
}

async function beginSession(call: Call, { sql }: Database, service: WidgetService) {
  const { widget: widgetId, destination, lang } = call.options as { widget: string; destination: string; lang?: string }
  const { page } = await requireWidget(sql, widgetId)
  const browser = { service, origin: call.options.origin ?? page.origins[0]! }
  const { captcha, isBuilder } = await ask<Opened>(browser, 'open', { widgetId, ...withLanguage(lang) })
  const { key, secret } = await ask<{ key: string; secret: string }>(browser, 'sessions', {
    widgetId,
    destination,
    ...withLanguage(lang),
    ...withChannel(call),
    ...passCaptcha(captcha, widgetId),
  })
  await keepSession(call.config, key, { secret, origin: browser.origin })
  if (isBuilder) await ask(browser, 'deliver', { key, secret })
  call.print({ key }, [`Key  ${key}`, '', ...nextLines(key, isBuilder), `Answered by ${service.place}.`].join('\n'))
}

const withLanguage = (lang: string | undefined) => (lang === undefined ? {} : { lang })

function withChannel(call: Call) {
  const channelType = choiceOption(call, 'channel', verifierChannels)
  return channelType === undefined ? {} : { channelType }
}

function passCaptcha(captcha: CaptchaForBrowser, widgetId: string): { captcha?: string } {
  if (captcha.kind === 'none') return {}
  if (captcha.kind === 'altcha') return { captcha: solutionOf(captcha.challenge) }
  throw new UsageError(
    `The captcha ${captcha.kind} needs a real browser: \`tidings widget set --widget ${widgetId} --captcha altcha\` changes it to our own.`,
  )
}

const nextLines = (key: string, isBuilder: boolean) => [
  isBuilder
    ? 'The code was asked for: the widget is for site builders.'
    : `The site's server has ${SEND_WITHIN_SECONDS} s to call POST /verifier/widget/send with this key.`,
  '`tidings simulator outbox` shows the code. To type it:',
  `tidings simulator widget --key ${key} --code CODE`,
]

async function askAgain(call: Call, { sql }: Database, service: WidgetService) {
  const { key, secret, browser } = await sessionOf(call, service)
  const { channelType: used } = await ask<State>(browser, 'state', { key, secret })
  await ask<State>(browser, 'again', { key, secret, channelType: used, ...withChannel(call) })
  const { isBuilder } = (await requireWidget(sql, widgetIdIn(key))).page
  if (isBuilder) await ask(browser, 'deliver', { key, secret })
  call.print({ key }, nextLines(key, isBuilder).join('\n'))
}

async function typeCode(call: Call, _: Database, service: WidgetService) {
  const { key, secret, browser } = await sessionOf(call, service)
  const { status, triesLeft, result } = await ask<State & { status: string }>(browser, 'check', {
    key,
    secret,
    code: call.options.code,
  })
  const left = status === 'WRONG_CODE' ? `, tries left: ${triesLeft}` : ''
  call.print({ status, ...(result === undefined ? {} : { result }) }, `${status}${left}`)
}

async function showState(call: Call, _: Database, service: WidgetService) {
  const { key, secret, browser } = await sessionOf(call, service)
  const state = await ask<State>(browser, 'state', { key, secret })
  call.print(state, state.error ? `${state.state}, error ${state.error.code}` : state.state)
}

async function sessionOf(call: Call, service: WidgetService) {
  const key = textOption(call, 'key')
  const { secret, origin } = await keptSession(call.config, key)
  const browser: Browser = { service, origin: call.options.origin ?? origin }
  return { key, secret, browser }
}

type Refusal = { error?: { code: number; msg: string; retryAfterSeconds?: number } }

async function ask<T>({ service, origin }: Browser, action: string, body: object): Promise<T> {
  const answer = await service.post(action, body, origin)
  const parsed = parseAnswer(answer.body)
  if (parsed === undefined)
    throw new UsageError(`What answers at ${service.place} is not Tidings: HTTP ${answer.status}.`)
  if (answer.status >= 300) throw new UsageError(sentenceOf(parsed as Refusal, answer.status))
  return parsed as T
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Numbers of the specification have three digits; their reasons are in the log alone. */
function sentenceOf({ error }: Refusal, status: number): string {
  if (!error) return `The service answers with HTTP ${status}.`
  const wait = error.retryAfterSeconds === undefined ? '' : ` Try again in ${error.retryAfterSeconds} s.`
  return error.code < 1000
    ? `The widget shows error ${error.code}: \`tidings widget errors --company N\` has the reason.${wait}`
    : `The service refuses it (${error.code}): ${error.msg}.${wait}`
}
