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
  template?: Omit<TemplateContent, 'contentType'>
}

/** Whether WhatsApp takes it only within 24 hours of the subscriber's last message: no template, and no code. */
export const isFreeText = (content: Content | undefined) =>
  !content || (content.contentType === 'text' && !content.template)

export type Button = { text: string; url: string } | { text: string; phone: string }

/** A template registered with the messenger, with what fills its places. */
export type TemplateContent = {
  contentType: 'template'
  templateId: string
  parameters?: string[] | null
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
