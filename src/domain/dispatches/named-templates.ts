import type { Content, TemplateContent } from '../../base/content.ts'
import { invalidField } from '../../base/errors.ts'
import type { FieldMistake } from '../../base/field-mistake.ts'
import { compileTemplate } from '../../base/text-template.ts'
import type { Sql } from '../../db/sql.ts'
import { templatesAgain } from '../templates/approved.ts'
import type { CompanyBudget } from '../templates/effort.ts'
import type { ApprovedTemplate } from '../templates/matching.ts'
import { type FilledTemplate, fillNamed } from '../templates/named.ts'
import { fillPlaces } from '../templates/pattern.ts'
import { whyTemplatesAreUnusable } from '../templates/templates.ts'
import type { About, CascadeStep, ClientDispatch } from './dispatch.ts'
import { aboutOf, USUAL } from './traffic.ts'

/**
 * What a dispatch is about, when its first step may name a registered template: that template decides, and its text is
 * the text of the dispatch. Refuses a step whose template cannot be used, or has another number of places.
 */
export async function withNamedTemplates(
  sql: Sql,
  companyId: number,
  templates: readonly ApprovedTemplate[],
  dispatch: ClientDispatch,
  budget: CompanyBudget,
): Promise<{ dispatch: ClientDispatch; about: About }> {
  const steps = dispatch.cascade ?? []
  const unusable = await whyTemplatesAreUnusable(sql, companyId, unknownIds(templates, steps))
  const [first] = steps.map((step, i) => namedIn(templates, step, i, unusable))
  const content = steps[0]?.content
  if (content?.contentType !== 'template') {
    return { dispatch, about: await aboutOf(templates, dispatch, undefined, budget) }
  }
  if (!first?.fits) return { dispatch, about: { trafficType: USUAL, templateId: null } }

  const { templateId, trafficType, pattern } = first.template
  const text = fillPlaces(pattern, content.parameters ?? [])
  return { dispatch: { ...dispatch, text }, about: { trafficType: trafficType, templateId } }
}

function unknownIds(templates: readonly ApprovedTemplate[], steps: CascadeStep[]): number[] {
  const known = new Set(templates.map(({ templateId }) => templateId))
  return steps.flatMap(({ content }) => idIn(content) ?? []).filter(id => !known.has(id))
}

function idIn(content: Content | null): number | undefined {
  return content?.contentType === 'template' && typeof content.templateId === 'number' ? content.templateId : undefined
}

function namedIn(
  templates: readonly ApprovedTemplate[],
  { content, senderName }: CascadeStep,
  index: number,
  unusable: ReadonlyMap<number, FieldMistake>,
): FilledTemplate | undefined {
  if (content?.contentType !== 'template') return undefined
  const filled = fillNamed(templates, withStandIns(content), senderName)
  if (!filled || !('field' in filled)) return filled
  const { field, reason } = unusable.get(idIn(content) ?? 0) ?? filled
  throw invalidField(field, reason, index)
}

/** Fits every kind of place. */
const STAND_IN = '1'

/** Values with placeholders are checked when they are filled in, for each recipient. */
const withStandIns = (content: TemplateContent): TemplateContent => ({
  ...content,
  parameters: (content.parameters ?? []).map(value => (compileTemplate(value).names.length > 0 ? STAND_IN : value)),
})

/** The templates that steps name by their ids, whatever became of them since. */
export async function templatesNamedBy(sql: Sql, companyId: number, steps: CascadeStep[]) {
  const ids = steps.flatMap(({ content }) => idIn(content) ?? [])
  const templates = ids.length > 0 ? await templatesAgain(sql, companyId, ids) : []
  return (content: Content | null) => templates.find(({ templateId }) => templateId === idIn(content))
}
