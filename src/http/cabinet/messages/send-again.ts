import { type ClientChannel, channelTypes } from '../../../base/channel-types.ts'
import type { Content } from '../../../base/content/content.ts'
import type { LifeOfMessage } from '../../../domain/message-life/message-life.ts'
import type { ShownMessage } from '../../../domain/message-search/box-search.ts'

/** The values of a failed message for the form of a single message. */
export type MessageAgain = {
  destination: string
  channelType: ClientChannel
  senderName: string
  text: string
  image: string
  buttonText: string
  buttonUrl: string
}

/**
 * The message to send again. Null if the message or another step of its cascade was delivered or may still be. Null
 * also for codes, and for content that the form has no fields for.
 */
export function againOf({ message, steps }: LifeOfMessage): MessageAgain | null {
  if (!steps.every(step => step.message.status === 'FAILED') || isCode(message)) return null
  const { destination, channelType, senderName, text, content } = message
  const fields = fieldsOf(content as Content | null)
  if (!isOfClients(channelType) || senderName === null || !text || !fields) return null
  return { destination, channelType, senderName, text, ...fields }
}

const isCode = ({ trafficType, channelType }: ShownMessage) =>
  trafficType === 'AUTHORIZE' || channelType === 'FLASHCALL' || channelType === 'VOICECODE'

const isOfClients = (channelType: string): channelType is ClientChannel =>
  channelTypes.some(known => known === channelType)

const NO_FIELDS = { image: '', buttonText: '', buttonUrl: '' }

function fieldsOf(content: Content | null) {
  if (content === null) return NO_FIELDS
  switch (content.contentType) {
    case 'text': {
      const { image, button, header, footer, buttons } = content
      if (header || footer || buttons?.length) return undefined
      return { image: image ?? '', buttonText: button?.text ?? '', buttonUrl: button?.url ?? '' }
    }
    case 'push':
      return content.title || content.url || content.image || content.data ? undefined : NO_FIELDS
    case 'tts':
      return content.sex || content.speed ? undefined : NO_FIELDS
    default:
      return undefined
  }
}
