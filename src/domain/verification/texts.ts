import type { Content } from '../../base/content/content.ts'
import { compileTemplate, type Substitutions, type TextTemplate } from '../../base/content/text-template.ts'
import type { CodeText } from '../verifications/code-box.ts'
import type { VerifierChannel, VerifierSettings } from '../verifiers/verifier.ts'

/** The language of a verifier's text: the one asked for, else English, else the first. */
export function textIn({ texts }: VerifierSettings, language: string | undefined): string {
  const asked = language?.toLowerCase()
  const wanted = asked ? [asked, asked.split('-')[0]!, 'en'] : ['en']
  const found = wanted.find(language => Object.hasOwn(texts, language))
  return found ? texts[found]! : Object.values(texts)[0]!
}

/** What the channel shows of a code; undefined when a placeholder of the text has no substitution. */
export function codeTextOf(
  channel: VerifierChannel,
  settings: VerifierSettings,
  template: string,
  code: string,
  substitutions: Substitutions | undefined,
): CodeText | undefined {
  if (channel === 'FLASHCALL') return { text: code, content: null }
  const text = compiled(template).render({ ...substitutions, code })
  if (text === undefined) return undefined
  if (channel === 'SMS') return { text: withLinesForPhones(text, settings, code), content: null }
  return { text, content: contentOf(channel, text, code) }
}

const MOST_COMPILED = 1000
const templates = new Map<string, TextTemplate>()

/** The texts of verifiers are few, and each is rendered twice for every code. */
function compiled(text: string): TextTemplate {
  const known = templates.get(text)
  if (known) return known
  if (templates.size >= MOST_COMPILED) templates.clear()
  const template = compileTemplate(text)
  templates.set(text, template)
  return template
}

function contentOf(channel: VerifierChannel, text: string, code: string): Content | null {
  switch (channel) {
    case 'WHATSAPP':
    case 'TELEGRAM_GATEWAY':
    case 'VOICECODE': // the text may contain other digits than the code
      return { contentType: 'authentication', code }
    case 'TELEGRAM':
      return { contentType: 'text', text }
    default:
      return null
  }
}

/**
 * Android's SMS Retriever knows the application by its hash anywhere in the text; browsers want their line
 * (`@host #code`) to be the last one.
 */
function withLinesForPhones(text: string, { webOtpHost, androidHash }: VerifierSettings, code: string): string {
  const lines = [...(androidHash ? [androidHash] : []), ...(webOtpHost ? [`@${webOtpHost} #${code}`] : [])]
  return lines.length === 0 ? text : `${text}\n\n${lines.join('\n')}`
}
