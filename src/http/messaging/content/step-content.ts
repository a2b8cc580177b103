import type { ClientChannel } from '../../../base/channel-types.ts'
import { changeWords } from '../../../base/content/content-words.ts'
import { compileTemplate } from '../../../base/content/text-template.ts'
import { MOST_TEMPLATE_CHARACTERS } from '../../../domain/dispatches/dispatch.ts'
import { readContent, type Said, textOf } from './content.ts'

/** A text that every channel accepts in every field. */
const STAND_IN = '1234'
const STAND_IN_ADDRESS = 'https://example.com/'

/**
 * The content of a dispatch's step. Texts with placeholders are checked for their channel when they are filled in. Here
 * a valid text replaces them.
 */
export function readStepContent(channelType: ClientChannel, value: unknown): Said | string {
  if (typeof value === 'string') return readBareText(channelType, value)
  const templates = new Map<string, string>()
  const standing = changeWords(value, (word, path, { isAddress }) => {
    if (!hasPlaceholders(word)) return word
    templates.set(path, word)
    return isAddress ? STAND_IN_ADDRESS : STAND_IN
  })
  const said = readContent(channelType, standing)
  return typeof said === 'string' || templates.size === 0 ? said : putBack(said, templates)
}

function readBareText(channelType: ClientChannel, text: string): Said | string {
  if (!hasPlaceholders(text)) return readContent(channelType, text)
  if (text.length > MOST_TEMPLATE_CHARACTERS) return tooLong('text')
  const said = readContent(channelType, STAND_IN)
  return typeof said === 'string' ? said : { ...said, text }
}

/** Placeholders in ignored fields are ignored too. */
function putBack({ text, content }: Said, templates: Map<string, string>): Said | string {
  const wrong: string[] = []
  const given = changeWords(content ?? { text }, (word, path) => {
    const template = templates.get(path) ?? word
    if (template.length > MOST_TEMPLATE_CHARACTERS) wrong.push(tooLong(path))
    return template
  })
  if (wrong.length > 0) return wrong[0]!
  return 'contentType' in given ? { text: textOf(given), content: given } : { text: given.text, content: null }
}

const tooLong = (path: string) => `content.${path}: must have at most ${MOST_TEMPLATE_CHARACTERS} characters`

export const hasPlaceholders = (text: string) => compileTemplate(text).names.length > 0
