import { UsageError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import type { Pool } from '../../db/sql.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { fieldsOf, subjectOf } from '../../domain/verification/changes.ts'
import type { Verifier, Widget } from '../../domain/verifiers/verifier.ts'
import {
  changeVerifier,
  createVerifier,
  deleteVerifier,
  listAllVerifiers,
  listVerifiers,
  requireAnyVerifier,
} from '../../domain/verifiers/verifiers.ts'
import { snippetOf } from '../../domain/widgets/snippet.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption, textOption } from '../command-line.ts'
import { optionalId } from '../options.ts'
import { recorded } from '../recorded.ts'
import { urlOf } from '../service/http-listeners.ts'
import { details, table } from '../table.ts'
import { isEmpty, pageChange, pageOptionsOf } from './page-settings.ts'
import { printStatistics } from './reports.ts'
import { settingsOf } from './settings.ts'
import { nameNotes, nameOf, namingOptions, settingLines } from './verifiers.ts'

export async function createOne(call: Call) {
  const companyId = idOption(call, 'company')
  const settings = settingsOf(call)
  const page = await pageOptionsOf(call)
  await withDatabase(call.config, async ({ sql, secret }) => {
    const options = { ...nameOf(call), settings, ...pageChange(page, secret) }
    const made = recorded(sql, async (tx, record) => {
      const verifierId = await tx.begin(inner => createVerifier(inner, companyId, 'WIDGET', options))
      const created = await requireWidget(tx, verifierId)
      await record({ what: 'widget.created', ...subjectOf(created), after: fieldsOf(created) })
      return verifierId
    })
    const widgetId = await orAdvise(noCompany(companyId), namingOptions(made))
    const widget = await requireWidget(sql, widgetId)
    const notes = await notesOn(sql, widget)
    call.print({ widgetId }, [...introductionOf(widget), '', ...htmlFor(widget, call.config), ...notes].join('\n'))
  })
}

const notesOn = async (sql: Pool, widget: Widget) => [...(await nameNotes(sql, widget)), ...openToRobots(widget)]

/** Without a server of the site, nothing but the limits stands between a program and the company's money. */
const openToRobots = ({ page }: Widget) =>
  page.isBuilder && page.captcha === 'none'
    ? ['Without a captcha every program can have codes sent at the expense of the company: use --captcha altcha.']
    : []

const introductionOf = ({ verifierId, companyId, settings, page }: Widget) => [
  `Widget ${verifierId} of company ${companyId} sends codes by ${settings.channels.join(', ')} on ${page.origins.join(', ')}.`,
  page.isBuilder
    ? 'On a page of a site builder, put this where the number is to be confirmed:'
    : "Put this on the page. The site's server takes the key at /send-code and calls POST /verifier/widget/send with it and a key",
  ...(page.isBuilder
    ? []
    : [`of the type VERIFIER, which \`tidings key create --company ${companyId} --type VERIFIER\` makes.`]),
]

const htmlFor = ({ verifierId, page }: Widget, config: Config): string[] =>
  snippetOf(config.publicUrl ?? urlOf(config.host, config.port), verifierId, page.isBuilder)

export async function listSome(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const found = companyId === undefined ? listAllVerifiers(sql, 'WIDGET') : listVerifiers(sql, companyId, 'WIDGET')
    const widgets = (await found) as Widget[]
    call.print(widgets.map(present), widgets.length > 0 ? tableOf(widgets) : noneYet)
  })
}

export async function showOne(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const widget = await requireWidget(sql, textOption(call, 'widget'))
    call.print(present(widget), detailsOf(widget))
  })
}

export async function changeOne(call: Call) {
  const widgetId = textOption(call, 'widget')
  const options = await pageOptionsOf(call)
  if (nameOf(call).name === undefined && Object.keys(settingsOf(call)).length === 0 && isEmpty(options))
    throw new UsageError('There is nothing to change: `tidings widget set --help` shows the options.')
  await withDatabase(call.config, async ({ sql, secret }) => {
    const change = ({ settings, page }: Verifier) => ({
      ...nameOf(call),
      settings: settingsOf(call, settings),
      ...pageChange(options, secret, page!.captcha),
    })
    const widget = await recorded(sql, async (tx, record) => {
      const before = await requireWidget(tx, widgetId)
      await namingOptions(changeVerifier(tx, before, change))
      const after = await requireWidget(tx, widgetId)
      const fields = { before: fieldsOf(before, after), after: fieldsOf(after, before) }
      await record({ what: 'widget.changed', ...subjectOf(after), ...fields })
      return after
    })
    call.print(present(widget), [detailsOf(widget), ...(await notesOn(sql, widget))].join('\n'))
  })
}

export async function deleteOne(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const widget = await requireWidget(sql, textOption(call, 'widget'))
    await recorded(sql, async (tx, record) => {
      await deleteVerifier(tx, widget)
      await record({ what: 'widget.deleted', ...subjectOf(widget), before: fieldsOf(widget) })
    })
    const { verifierId: widgetId } = widget
    call.print({ widgetId }, `Widget ${widgetId} is deleted. Pages that still show it get error 310.`)
  })
}

export async function showStatistics(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const { companyId, verifierId } = await requireWidget(sql, textOption(call, 'widget'))
    await printStatistics(call, sql, companyId, verifierId)
  })
}

export const requireWidget = (sql: Pool, widgetId: string): Promise<Widget> =>
  orAdvise(noWidget(widgetId), requireAnyVerifier(sql, 'WIDGET', widgetId)) as Promise<Widget>

const noWidget = (widgetId: string) => `There is no widget "${widgetId}": \`tidings widget list\` shows them.`

const present = (widget: Widget) => ({
  widgetId: widget.verifierId,
  companyId: widget.companyId,
  name: widget.name,
  ...widget.page,
  hasCaptchaSecret: hasSecret(widget),
  ...widget.settings,
  createdAt: widget.createdAt,
})

const hasSecret = ({ captchaSecret }: Verifier) => captchaSecret !== null

const noneYet = 'There are no widgets: `tidings widget create --company N --origins https://shop.example` makes one.'

const tableOf = (widgets: Widget[]): string =>
  table(
    ['WIDGET ID', 'COMPANY', 'NAME', 'CHANNELS', 'CAPTCHA', 'BUILDER', 'ORIGINS'],
    widgets.map(({ verifierId, companyId, name, settings, page }) => [
      verifierId,
      companyId,
      name,
      settings.channels.join(','),
      page.captcha,
      onOrOff(page.isBuilder),
      page.origins.join(','),
    ]),
  )

const onOrOff = (value: boolean) => (value ? 'on' : 'off')

const detailsOf = (widget: Widget) =>
  details([
    ['Widget id', widget.verifierId],
    ['Company', widget.companyId],
    ['Name', widget.name],
    ['Origins', widget.page.origins.join(', ')],
    ['Captcha', widget.page.captcha],
    ['Captcha site key', widget.page.captchaSiteKey],
    ['Captcha secret', hasSecret(widget) ? 'set' : 'not set'],
    ['Site builder', onOrOff(widget.page.isBuilder)],
    ...settingLines(widget),
  ])
