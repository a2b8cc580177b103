import type { Content } from '../../../base/content.ts'
import { changeWords, fitsRule, mostUnits } from '../../../base/content-words.ts'
import { compileTemplate, type Substitutions, type TextTemplate } from '../../../base/text-template.ts'
import { rejection } from '../../messages/message.ts'

/** The content of a cascade's step as a recipient gets it, but for its text; or why that recipient can get none. */
export type FillContent = (substitutions: Substitutions | undefined) => Content | number

/** Undefined where no placeholder stands beyond the text: such a content is the same for all, with each one's own text. */
export function compileContent(content: Content | null | undefined): FillContent | undefined {
  if (!content) return undefined
  const templates = templatesIn(content)
  return templates.size === 0 ? undefined : substitutions => fillIn(content, templates, substitutions)
}

/** By the paths of their words. The text is filled in, counted and shortened on its own. */
function templatesIn(content: Content): Map<string, TextTemplate> {
  const templates = new Map<string, TextTemplate>()
  changeWords(content, (word, path) => {
    const template = compileTemplate(word)
    if (path !== 'text' && template.names.length > 0) templates.set(path, template)
    return word
  })
  return templates
}

/** A word that nothing was filled into was looked at when the dispatch was made. */
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

/** With the text as this recipient gets it. */
export const withText = (content: Content, text: string): Content =>
  'text' in content ? { ...content, text } : content
