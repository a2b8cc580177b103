import { type ClientChannel, channelTypes } from '../../../base/channel-types.ts'

/**
 * The form of `content` in each channel, for the reference only. `content.ts` reads contents and words the mistakes. A test
 * compares the two.
 */

type Schema = Record<string, unknown>

const text = (most: number) => ({ type: 'string', minLength: 1, maxLength: most })
const orNull = (schema: Schema) => ({ anyOf: [schema, { type: 'null' }] })
const url = { type: 'string', format: 'uri', maxLength: 2048, description: 'an http or https address' }

/** Members with a `?` are optional or null. */
function object(title: string, members: Record<string, Schema>): Schema {
  const isOptional = (name: string) => name.endsWith('?')
  return {
    title,
    type: 'object',
    required: Object.keys(members).filter(name => !isOptional(name)),
    properties: Object.fromEntries(
      Object.entries(members).map(([name, schema]) =>
        isOptional(name) ? [name.slice(0, -1), orNull(schema)] : [name, schema],
      ),
    ),
  }
}

const bare = (title: string, most: number) => ({ title, ...text(most) })
const kind = (contentType: string) => ({ type: 'string', const: contentType })

const plain = (channel: string, most: number) => [
  bare(`${channel}: a text`, most),
  object(`${channel}: an object`, { text: text(most) }),
]

const button = {
  ...object('A button: an address or a number', { text: text(25), 'url?': url, 'phone?': text(20) }),
  oneOf: ['url', 'phone'].map(one => ({ required: [one], properties: { [one]: { type: 'string' } } })),
}

const forms: Record<ClientChannel, Schema[]> = {
  SMS: plain('SMS', 4096),
  WEASY: plain('WEASY', 4096),
  VK: plain('VK', 2048),
  TELEGRAM: [object('TELEGRAM', { contentType: kind('text'), text: text(4096) })],
  VIBER: [
    bare('VIBER: a text', 4096),
    object('VIBER: an object', {
      contentType: kind('text'),
      text: text(4096),
      'image?': url,
      'button?': object('A button', { text: text(30), url }),
    }),
  ],
  WHATSAPP: [
    object('WHATSAPP: a text', {
      contentType: kind('text'),
      text: text(4096),
      'header?': object('A header; without a text there is none', { 'text?': text(60) }),
      'footer?': object('A footer; without a text there is none', { 'text?': text(60) }),
      'buttons?': { type: 'array', maxItems: 10, items: button },
    }),
    object('WHATSAPP: a template', {
      contentType: kind('template'),
      templateId: {
        anyOf: [
          {
            type: 'integer',
            minimum: 1,
            maximum: Number.MAX_SAFE_INTEGER,
            description: 'The id that POST /templates answered',
          },
          { ...text(512), description: "The template's own name at Meta, and its language: `sale:en`" },
        ],
      },
      'parameters?': { type: 'array', maxItems: 50, items: { type: 'string', maxLength: 1024 } },
    }),
    object('WHATSAPP: a code', { contentType: kind('authentication'), code: text(15) }),
  ],
  FLASHCALL: [
    { title: 'FLASHCALL: a text', type: 'string', pattern: '^\\d{4}$', description: '4 digits' },
    { title: 'FLASHCALL: a number', type: 'integer', minimum: 1000, maximum: 9999 },
  ],
  VOICECODE: [
    object('VOICECODE', {
      contentType: kind('text'),
      text: { ...text(1000), description: 'With a code of 4 to 8 digits, together or apart' },
    }),
  ],
  TEXT_TO_SPEECH: [
    object('TEXT_TO_SPEECH', {
      contentType: kind('tts'),
      text: text(1000),
      'sex?': { type: 'string', enum: ['male', 'female'] },
      'speed?': { type: 'number', minimum: 0.5, maximum: 2 },
    }),
  ],
  PUSH: [
    object('PUSH', {
      text: text(4096),
      'title?': text(200),
      'url?': url,
      'image?': url,
      'data?': { type: 'object', description: 'At most 4096 characters as JSON, and 20 levels deep' },
    }),
  ],
}

const single = (schemas: Schema[]) => (schemas.length === 1 ? schemas[0]! : { anyOf: schemas })

/** The forms of the content, by channel. */
export const contentForms: Record<ClientChannel, Schema> = Object.fromEntries(
  channelTypes.map(channelType => [channelType, single(forms[channelType])]),
) as Record<ClientChannel, Schema>
