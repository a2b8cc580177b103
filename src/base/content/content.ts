/** The content of a message beyond its plain text, in the form of the messaging API. Members may be null. */
export type Content = TextContent | TemplateContent | AuthenticationContent | SpeechContent | PushContent

/** `image` and `button` are VIBER's; `header`, `footer` and `buttons` WHATSAPP's. */
export type TextContent = {
  contentType: 'text'
  text: string
  image?: string | null
  button?: { text: string; url: string } | null
  header?: { text: string } | null
  footer?: { text: string } | null
  buttons?: Button[] | null
  /** A template of the messenger with the same text. Tidings found it, and it may be sent at any time. */
  template?: MessengerTemplateCall
}

/** A template under its name at the messenger, `name` or `name:language`, with the values of its places. */
export type MessengerTemplateCall = { templateId: string; parameters?: string[] | null }

/**
 * Whether WhatsApp accepts it only within 24 hours of the subscriber's last message. Templates and codes are always
 * accepted.
 */
export const isFreeText = (content: Content | null | undefined) =>
  content?.contentType !== 'authentication' && !messengerTemplateOf(content)

export type Button = { text: string; url: string } | { text: string; phone: string }

/** A template and the values of its places. A number is the id of a registered template, a string its name at Meta. */
export type TemplateContent = {
  contentType: 'template'
  templateId: string | number
  parameters?: string[] | null
  /** The name of the same template at the messenger, if it is registered with that name. */
  template?: MessengerTemplateCall
}

export type AuthenticationContent = { contentType: 'authentication'; code: string }

export type SpeechContent = {
  contentType: 'tts'
  text: string
  sex?: 'male' | 'female' | null
  /** 1 is the ordinary speed. */
  speed?: number | null
}

export type PushContent = {
  contentType: 'push'
  text: string
  title?: string | null
  url?: string | null
  image?: string | null
  data?: Record<string, unknown> | null
}

/**
 * The messenger's own template that carries the content. Undefined for free text, which includes a template registered
 * here without a name at Meta.
 */
export function messengerTemplateOf(content: Content | null | undefined): MessengerTemplateCall | undefined {
  if (content?.contentType !== 'text' && content?.contentType !== 'template') return undefined
  if (content.template || content.contentType === 'text') return content.template
  const { templateId, parameters } = content
  return typeof templateId === 'string' ? { templateId, ...(parameters ? { parameters } : {}) } : undefined
}
