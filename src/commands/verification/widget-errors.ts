import { UsageError } from '../../base/errors.ts'
import { NOT_SERVED, type WidgetErrorCode } from '../../base/widget-errors.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { hadVerifier } from '../../domain/verifiers/verifiers.ts'
import { listErrors } from '../../domain/widgets/errors.ts'
import type { WidgetError } from '../../domain/widgets/widget.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption } from '../command-line.ts'
import { limitOption, optionalId } from '../options.ts'
import { table } from '../table.ts'

const meanings: Record<WidgetErrorCode, string> = {
  110: 'captcha not passed',
  130: 'too many requests',
  210: 'balance too small',
  230: 'sender name not usable',
  310: 'widget unknown to the page',
  320: 'widget/send without key',
  321: 'no widget/send in time',
  330: 'wrong API key',
  331: 'API key of a wrong type',
  340: 'captcha could not be checked',
  341: 'captcha did not load',
  350: 'sendAuthKey failed',
  [NOT_SERVED]: 'number or channel not served',
}

export async function listSome(call: Call) {
  const companyId = idOption(call, 'company')
  const { widget } = call.options
  const code = codeOption(call)
  const limit = limitOption(call)
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    if (widget !== undefined && !(await hadVerifier(sql, companyId, widget)))
      throw new UsageError(`Company ${companyId} has no widget "${widget}": \`tidings widget list\` shows them.`)
    const filter = { limit, ...(widget !== undefined && { widgetId: widget }), ...(code !== undefined && { code }) }
    const errors = await listErrors(sql, companyId, filter)
    call.print(errors.map(present), errors.length > 0 ? tableOf(errors) : 'No widget showed such an error.')
  })
}

function codeOption(call: Call): number | undefined {
  const code = optionalId(call, 'code')
  if (code !== undefined && !(code in meanings))
    throw new UsageError(`--code must be one of ${Object.keys(meanings).join(', ')}, not "${code}".`)
  return code
}

const present = ({ createdAt, widgetId, code, reason, origin, destination }: WidgetError) => ({
  createdAt,
  widgetId,
  code,
  meaning: meaningOf(code),
  reason,
  origin,
  destination: destination && lastDigits(destination),
})

const meaningOf = (code: number): string => meanings[code as WidgetErrorCode] ?? 'unknown'

/** As in the log of the service. */
const lastDigits = (destination: string) => `…${destination.slice(-4)}`

const tableOf = (errors: WidgetError[]): string =>
  table(
    ['TIME', 'WIDGET', 'CODE', 'MEANING', 'NUMBER', 'ORIGIN', 'REASON'],
    errors.map(error => [
      `${error.createdAt.toISOString().slice(0, 19)}Z`,
      error.widgetId,
      error.code,
      meaningOf(error.code),
      error.destination && lastDigits(error.destination),
      error.origin,
      error.reason,
    ]),
  )
