/** What a message shows beyond its plain text, in the form the messaging API takes it. Members may be null. */
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
  /** The messenger's own template that says the same, found by us: it may go out at any time. */
  template?: MessengerTemplateCall
}

/** A template as the messenger knows it, `name` or `name:language`, and the values of its places. */
export type MessengerTemplateCall = { templateId: string; parameters?: string[] | null }

/** Whether WhatsApp takes it only within 24 hours of the subscriber's last message: no template, and no code. */
export const isFreeText = (content: Content | undefined) =>
  content?.contentType !== 'authentication' && !messengerTemplateOf(content)

export type Button = { text: string; url: string } | { text: string; phone: string }

/** A template and the values of its places. A number is the id of a template registered here, a string its name at Meta. */
export type TemplateContent = {
  contentType: 'template'
  templateId: string | number
  parameters?: string[] | null
  /** The same template as the messenger knows it, where it is registered here with its name. */
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
