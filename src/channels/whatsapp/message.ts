import {
  type AuthenticationContent,
  type Button,
  type MessengerTemplateCall,
  messengerTemplateOf,
  type TextContent,
} from '../../base/content/content.ts'
import type { Outgoing } from '../channel.ts'
import type { WhatsappSettings } from './settings.ts'

/** A message in the format of the Cloud API, without the recipient. */
type Payload =
  | { type: 'text'; text: { body: string } }
  | { type: 'interactive'; interactive: object }
  | { type: 'template'; template: object }

type UrlButton = Extract<Button, { url: string }>

/** The limits of the Cloud API for an interactive message. */
const MOST_BODY = 1024
const MOST_HEADER = 60
const MOST_FOOTER = 60
const MOST_LABEL = 20

/** The body of `POST /{phoneNumberId}/messages`; undefined for a code if the gateway has no template for codes. */
export function bodyOf(message: Outgoing, settings: WhatsappSettings): string | undefined {
  const payload = payloadOf(message, settings)
  if (!payload) return undefined
  return JSON.stringify({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Without the plus, Meta adds the country code of the business number.
    to: `+${message.destination}`,
    ...payload,
    biz_opaque_callback_data: message.uuid,
  })
}

function payloadOf(message: Outgoing, settings: WhatsappSettings): Payload | undefined {
  const { content, text } = message
  const template = messengerTemplateOf(content)
  if (template) return templateOf(template, settings)
  switch (content?.contentType) {
    case 'authentication':
      return authenticationOf(content, settings)
    case 'text':
      return interactiveOf(text, content) ?? plain(linesOf(text, content))
    default:
      return plain(text)
  }
}

const plain = (body: string): Payload => ({ type: 'text', text: { body } })

/**
 * Outside of templates the Cloud API shows a text and one button that opens an address, and with a button also a header
 * and a footer. Further addresses and phone numbers become lines of the text. If the content is still too long, all of it
 * becomes lines of a text message, so that the message is not refused.
 */
function interactiveOf(text: string, { header, footer, buttons }: TextContent): Payload | undefined {
  const button = buttons?.find(isShown)
  if (!buttons || !button) return undefined
  const others = buttons.filter(other => other !== button)
  const body = [text, ...others.map(lineOf)].join('\n')
  if (!fits(body, MOST_BODY) || !fits(header?.text, MOST_HEADER) || !fits(footer?.text, MOST_FOOTER)) return undefined
  return {
    type: 'interactive',
    interactive: {
      type: 'cta_url',
      ...(header?.text ? { header: { type: 'text', text: header.text } } : {}),
      body: { text: body },
      ...(footer?.text ? { footer: { text: footer.text } } : {}),
      action: { name: 'cta_url', parameters: { display_text: button.text, url: button.url } },
    },
  }
}

const isShown = (button: Button): button is UrlButton => 'url' in button && fits(button.text, MOST_LABEL)

/** Counts UTF-16 units: these are never fewer than the characters that Meta counts. */
const fits = (text: string | undefined, most: number) => text === undefined || text.length <= most

function linesOf(text: string, { header, footer, buttons }: TextContent): string {
  return [header?.text, text, ...(buttons ?? []).map(lineOf), footer?.text].filter(Boolean).join('\n')
}

const lineOf = (button: Button) => `${button.text}: ${'url' in button ? button.url : button.phone}`

/** `name` or `name:language`: a name contains no colon. */
function templateOf(
  { templateId, parameters }: MessengerTemplateCall,
  { templateLanguage }: WhatsappSettings,
): Payload {
  const [name, language] = templateId.split(':', 2)
  const components = parameters?.length ? [{ type: 'body', parameters: parameters.map(parameterOf) }] : undefined
  return {
    type: 'template',
    template: { name, language: { code: language || templateLanguage }, ...(components ? { components } : {}) },
  }
}

/** The code is sent twice: in the text, and for the button that copies it (for Meta, a button of type "url"). */
function authenticationOf({ code }: AuthenticationContent, settings: WhatsappSettings): Payload | undefined {
  if (!settings.authenticationTemplate) return undefined
  const parameters = [parameterOf(code)]
  return {
    type: 'template',
    template: {
      name: settings.authenticationTemplate,
      language: { code: settings.authenticationLanguage },
      components: [
        { type: 'body', parameters },
        { type: 'button', sub_type: 'url', index: '0', parameters },
      ],
    },
  }
}

const parameterOf = (text: string) => ({ type: 'text', text })
