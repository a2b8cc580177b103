import { type Content, messengerTemplateOf } from '../../base/content/content.ts'
import { spokenCode } from '../../base/content/spoken-code.ts'
import type { Outgoing } from '../channel.ts'

/** One message in the form of the protocol. `content` has the content of the channel beyond the text. */
export type Submission = {
  version: 1
  id: string
  channel: string
  sender: string
  destination: string
  text: string
  parts: number
  content?: Record<string, unknown>
  addresses?: string[]
  expiresAt?: string
  statusUrl?: string
}

/** The body to send, or the reason why the message cannot be sent. */
export function submissionOf(message: Outgoing, statusUrl: string | undefined): Submission | { impossible: string } {
  const content = contentOf(message)
  if (typeof content === 'string') return { impossible: content }
  return {
    version: 1,
    id: message.uuid,
    channel: message.channelType,
    sender: message.senderName,
    destination: message.destination,
    text: message.text,
    parts: message.parts,
    ...(Object.keys(content).length > 0 ? { content } : {}),
    ...(message.addresses?.length ? { addresses: message.addresses } : {}),
    ...(message.expiresAt ? { expiresAt: message.expiresAt.toISOString() } : {}),
    ...(statusUrl ? { statusUrl } : {}),
  }
}

/** A string is the reason why there is no content. */
type Members = Record<string, unknown> | string

function contentOf({ channelType, text, content }: Outgoing): Members {
  const code = content?.contentType === 'authentication' ? content.code : undefined
  switch (channelType) {
    case 'FLASHCALL':
      return withCode(code ?? text.trim(), /^\d{4}$/, 'the code has not four digits')
    case 'VOICECODE':
    case 'TELEGRAM_GATEWAY':
      return withCode(
        code ?? spokenCode(text) ?? '',
        /^\d{4,8}$/,
        'there is no code of four to eight digits in the text',
      )
    case 'VIBER':
      return membersOf(content, ['image', 'button'])
    case 'WHATSAPP':
      return membersOf(withMessengerTemplate(content), whatsappMembers)
    case 'TEXT_TO_SPEECH':
      return membersOf(content, ['sex', 'speed'])
    case 'PUSH':
      return membersOf(content, ['title', 'url', 'image', 'data'])
    default:
      return {}
  }
}

const whatsappMembers = ['templateId', 'parameters', 'code', 'header', 'footer', 'buttons']

/** The provider needs the name that the template has at the messenger. A template without a name is sent as a text. */
const withMessengerTemplate = (content: Content | undefined) =>
  content?.contentType === 'template' ? messengerTemplateOf(content) : content

const withCode = (code: string, form: RegExp, impossible: string): Members => (form.test(code) ? { code } : impossible)

/** The members that are present, in this order. Null counts as absent. */
function membersOf(content: object | undefined, names: string[]): Record<string, unknown> {
  const given = new Map(Object.entries(content ?? {}))
  return Object.fromEntries(
    names.flatMap(name => ((given.get(name) ?? null) === null ? [] : [[name, given.get(name)]])),
  )
}
