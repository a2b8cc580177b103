import type { Content } from '../../../base/content/content.ts'
import { changeWords, fitsRule, mostUnits } from '../../../base/content/content-words.ts'
import { compileTemplate, type Substitutions, type TextTemplate } from '../../../base/content/text-template.ts'
import { rejection } from '../../messages/message.ts'

/** Fills the content of a cascade step for one recipient, without its text, or returns the error code of the rejection. */
export type FillContent = (substitutions: Substitutions | undefined) => Content | number

/** Undefined if only the text has placeholders. Such a content differs between recipients only in its text. */
export function compileContent(content: Content | null | undefined): FillContent | undefined {
  if (!content) return undefined
  const templates = templatesIn(content)
  return templates.size === 0 ? undefined : substitutions => fillIn(content, templates, substitutions)
}

/** The templates by the paths of their fields. The text is left out, because it is rendered separately. */
function templatesIn(content: Content): Map<string, TextTemplate> {
  const templates = new Map<string, TextTemplate>()
  changeWords(content, (word, path) => {
    const template = compileTemplate(word)
    if (path !== 'text' && template.names.length > 0) templates.set(path, template)
    return word
  })
  return templates
}

/** Fields without placeholders are not checked here: they were checked when the dispatch was created. */
function fillIn(content: Content, templates: Map<string, TextTemplate>, substitutions: Substitutions | undefined) {
  let refusal: number | undefined
  const filled = changeWords(content, (word, path, rule) => {
    const template = refusal ? undefined : templates.get(path)
    if (!template) return word
    const rendered = template.render(substitutions, mostUnits(rule.most))
    if (rendered === undefined) refusal = rejection.noSubstitution
    else if (!fitsRule(rendered, rule)) refusal = rejection.badText
    return rendered ?? word
  })
  return refusal ?? filled
}

/** Puts the text of one recipient into the content. */
export const withText = (content: Content, text: string): Content =>
  'text' in content ? { ...content, text } : content
