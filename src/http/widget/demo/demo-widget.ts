import type { Sql } from '../../../db/sql.ts'
import { listCompanies } from '../../../domain/companies/companies.ts'
import { listGateways } from '../../../domain/gateways/gateways.ts'
import { partnerWithLogin } from '../../../domain/partners/partners.ts'
import type { Widget } from '../../../domain/verifiers/verifier.ts'
import { listVerifiers } from '../../../domain/verifiers/verifiers.ts'

/** The page finds its widget by this name. */
export const DEMO_WIDGET = 'Widget demo'

/** The widget of the demo page: it belongs to the first company of the demo partner. */
export async function findDemoWidget(sql: Sql): Promise<Widget | undefined> {
  const partner = await partnerWithLogin(sql, 'demo')
  if (!partner) return undefined
  const { items } = await listCompanies(sql, partner, 1, 1)
  const widgets = items[0] ? await listVerifiers(sql, items[0].companyId, 'WIDGET') : []
  return widgets.find(({ name }) => name === DEMO_WIDGET) as Widget | undefined
}

/** The page shows codes to every visitor. It costs nothing only while no real operator is connected. */
export async function isAllSimulated(sql: Sql): Promise<boolean> {
  return (await listGateways(sql)).every(({ connector }) => connector === 'simulator')
}
