import Type, { type TSchema } from 'typebox'
import type { ClientChannel } from '../../../base/channel-types.ts'
import type { Content, PushContent } from '../../../base/content/content.ts'
import { wordRules } from '../../../base/content/content-words.ts'
import { spokenCode } from '../../../base/content/spoken-code.ts'
import { BY_CHANNEL } from '../../bodies/ignored-fields.ts'
import { OneOf } from '../../schemas.ts'
import { checkerOf } from '../check.ts'

/** The text of a message, and the content if the channel shows more than the text. */
export type Said = { text: string; content: Content | null }

/**
 * `text`: the form of a content that is only a string. `kinds`: the forms by `contentType`, if `schema` checks only the
 * `contentType`.
 */
type Reader = { text?: TSchema; schema: TSchema; kinds?: TSchema[]; read(value: never): Said | string }

const Absent = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Unsafe<Type.Static<T> | null>({ anyOf: [schema, { type: 'null' }] }))
const Text = (most: number) => Type.String({ minLength: 1, maxLength: most })
const Url = Type.String({ format: 'uri', maxLength: wordRules.url.most })
const Kind = <T extends string>(kind: T) => Type.Unsafe<T>({ type: 'string', const: kind })

const MOST_TEXT = 4096
const MOST_VK = 2048
const MOST_VOICE = 1000

const plain = (most: number) => ({
  text: Text(most),
  schema: Type.Object({ text: Text(most) }),
  read: (value: string | { text: string }): Said => ({
    text: typeof value === 'string' ? value : value.text,
    content: null,
  }),
})

type TextForm = Extract<Content, { text: string }>

const asGiven =
  (schema: TSchema) =>
  (value: TextForm): Said => ({ text: value.text, content: onlyKnown(schema, value) as TextForm })

const TextOnly = (most: number) => Type.Object({ contentType: Kind('text'), text: Text(most) })
const Telegram = TextOnly(MOST_TEXT)
const Voicecode = TextOnly(MOST_VOICE)

const Viber = Type.Object({
  contentType: Kind('text'),
  text: Text(MOST_TEXT),
  image: Absent(Url),
  button: Absent(Type.Object({ text: Text(wordRules.button.text.most), url: Url })),
})

const [button] = wordRules.buttons
const Buttons = Type.Array(
  Type.Object({ text: Text(button.text.most), url: Absent(Url), phone: Absent(Text(button.phone.most)) }),
  { maxItems: 10 },
)

const Whatsapp = {
  text: Type.Object({
    contentType: Kind('text'),
    text: Text(MOST_TEXT),
    header: Absent(Type.Object({ text: Absent(Text(wordRules.header.text.most)) })),
    footer: Absent(Type.Object({ text: Absent(Text(wordRules.footer.text.most)) })),
    buttons: Absent(Buttons),
  }),
  template: Type.Object({
    contentType: Kind('template'),
    // A number is the id from POST /templates, a string the name of the template at Meta.
    templateId: Type.Unsafe<string | number>({
      type: ['string', 'integer'],
      minLength: 1,
      maxLength: 512,
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
    parameters: Absent(Type.Array(Type.String({ maxLength: wordRules.parameters[0].most }), { maxItems: 50 })),
  }),
  authentication: Type.Object({ contentType: Kind('authentication'), code: Text(wordRules.code.most) }),
}

const Speech = Type.Object({
  contentType: Kind('tts'),
  text: Text(MOST_VOICE),
  sex: Absent(OneOf(['male', 'female'])),
  speed: Absent(Type.Number({ minimum: 0.5, maximum: 2 })),
})

/** The service adds `contentType`, so clients may leave it out. */
const Push = Type.Object({
  contentType: Type.Optional(Type.Unsafe<unknown>({})),
  text: Text(MOST_TEXT),
  title: Absent(Text(wordRules.title.most)),
  url: Absent(Url),
  image: Absent(Url),
  data: Absent(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
})

/** The forms of `content` in each channel. */
const readers: Record<ClientChannel, Reader> = {
  SMS: plain(MOST_TEXT),
  WEASY: plain(MOST_TEXT),
  VK: plain(MOST_VK),
  TELEGRAM: { schema: Telegram, read: asGiven(Telegram) },
  VIBER: {
    text: Text(MOST_TEXT),
    schema: Viber,
    read: (value: string | Type.Static<typeof Viber>) =>
      typeof value === 'string' ? { text: value, content: null } : asGiven(Viber)(value),
  },
  WHATSAPP: {
    schema: Type.Object({ contentType: OneOf(['text', 'template', 'authentication']) }),
    kinds: Object.values(Whatsapp),
    read: readWhatsapp,
  },
  FLASHCALL: {
    schema: Type.Unsafe<string | number>({
      type: ['string', 'integer'],
      pattern: '^\\d{4}$',
      minimum: 1000,
      maximum: 9999,
      description: '4 digits',
    }),
    read: (value: string | number) => ({ text: String(value), content: null }),
  },
  VOICECODE: {
    schema: Voicecode,
    read: (value: { contentType: 'text'; text: string }) =>
      spokenCode(value.text) ? asGiven(Voicecode)(value) : 'content.text: must contain a code of 4 to 8 digits',
  },
  TEXT_TO_SPEECH: { schema: Speech, read: asGiven(Speech) },
  PUSH: {
    schema: Push,
    read: (value: Omit<PushContent, 'contentType'>) =>
      wrongData(value.data) ?? asGiven(Push)({ ...value, contentType: 'push' }),
  },
}

/** Push services accept 4 KB in all. */
const MOST_DATA = 4096
const DEEPEST_DATA = 20

function wrongData(data: PushContent['data']): string | undefined {
  if (isDeeperThan(DEEPEST_DATA, data)) return `content.data: must be at most ${DEEPEST_DATA} levels deep`
  if (JSON.stringify(data ?? {}).length > MOST_DATA) {
    return `content.data: must have at most ${MOST_DATA} characters as JSON`
  }
}

const isDeeperThan = (most: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (most === 0 || Object.values(value).some(inner => isDeeperThan(most - 1, inner)))

const checks = Object.fromEntries(
  Object.entries(readers).map(([channelType, reader]) => [channelType, checkOf(reader)]),
) as Record<ClientChannel, ReturnType<typeof checkerOf>>

/** Validates the content by the form of its type, so that a mistake inside an object has its own path. */
function checkOf({ text, schema }: Reader): ReturnType<typeof checkerOf> {
  const ofObject = checkerOf(schema, 'content')
  if (!text) return ofObject
  const ofText = checkerOf(text, 'content')
  return value => (typeof value === 'object' && value !== null ? ofObject : ofText)(value)
}

/** The content of a message for a channel, or its mistake. */
export function readContent(channelType: ClientChannel, value: unknown): Said | string {
  return checks[channelType](value) ?? readers[channelType].read(value as never)
}

type Shape = { anyOf?: Shape[]; properties?: Record<string, TSchema>; items?: TSchema }

/** Removes unknown fields: they are ignored and not stored. */
function onlyKnown(schema: TSchema, value: unknown): unknown {
  const { properties, items } = (schema as Shape).anyOf?.[0] ?? (schema as Shape)
  if (items && Array.isArray(value)) return value.map(item => onlyKnown(items, item))
  if (!properties || typeof value !== 'object' || value === null) return value
  const given = Object.keys(properties).filter(name => Object.hasOwn(value, name))
  return Object.fromEntries(given.map(name => [name, onlyKnown(properties[name]!, value[name as keyof typeof value])]))
}

const whatsappChecks = {
  text: checkerOf(Whatsapp.text, 'content'),
  template: checkerOf(Whatsapp.template, 'content'),
  authentication: checkerOf(Whatsapp.authentication, 'content'),
}

type WhatsappContent = Extract<Content, { contentType: keyof typeof whatsappChecks }>
type WhatsappForm = WhatsappContent & {
  header?: GivenLine | null
  footer?: GivenLine | null
  buttons?: GivenButton[] | null
}
type GivenLine = { text?: string | null }
type GivenButton = { text: string; url?: string | null; phone?: string | null }

function readWhatsapp(form: WhatsappForm): Said | string {
  const wrong = whatsappChecks[form.contentType](form)
  if (wrong) return wrong
  const value = onlyKnown(Whatsapp[form.contentType], form) as WhatsappForm
  const bad = value.buttons?.findIndex(({ url, phone }) => !url === !phone) ?? -1
  if (bad >= 0) return `content.buttons[${bad}]: must have either url or phone`
  const content = { ...value, ...linesOf(value), ...(value.buttons && { buttons: value.buttons.map(buttonOf) }) }
  return { text: textOf(content), content }
}

/** A header or footer with null as its text counts as absent, because public clients send such values. */
function linesOf({ header, footer }: WhatsappForm) {
  return { ...(header && !header.text && { header: null }), ...(footer && !footer.text && { footer: null }) }
}

/** Removes members that are null. */
const buttonOf = ({ text, url, phone }: GivenButton) => (url ? { text, url } : { text, phone: phone! })

/** A template has only its name and its values here. Its text is filled in when the message is accepted. */
export function textOf(content: Content): string {
  if ('text' in content) return content.text
  if (content.contentType === 'authentication') return content.code
  return content.parameters?.length ? content.parameters.join(' ') : String(content.templateId)
}

/** All forms of the content in a channel: the string first, then the objects. */
export function formsOf(channelType: ClientChannel): TSchema[] {
  const { text, schema, kinds = [schema] } = readers[channelType]
  return text ? [text, ...kinds] : kinds
}

const knownFields = Object.fromEntries(
  Object.entries(readers).map(([channelType, { schema }]) => [channelType, schema]),
) as Record<ClientChannel, TSchema>

/** For the reference, and for the names of fields that the channel does not have. */
export const ContentSchema = Type.Unsafe<unknown>({
  description: 'By channel: see the messaging API guide',
  anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'object' }],
  [BY_CHANNEL]: { ...knownFields, WHATSAPP: { anyOf: Object.values(Whatsapp) } },
})
