import type { ClientChannel } from '../../../base/channel-types.ts'
import type { Schema } from '../../reference/document.ts'
import { formsOf } from './content.ts'

/**
 * The form of `content` in each channel, for the reference. The rules come from the schemas that validate requests. The
 * notes in this file add titles, descriptions, and the rules that `content.ts` checks in code.
 */

/**
 * The additions to a schema. `hidden` names the members that the reference leaves out. `byType` splits a schema of several
 * types into one schema for each type.
 */
type Note = {
  title?: string
  description?: string
  oneOf?: Schema[]
  hidden?: string[]
  byType?: TypeNote[]
  members?: Record<string, Note>
  items?: Note
}

type TypeNote = Note & { type: 'string' | 'integer' }

// Notes -------------------------------------------------------------------------------------------------------------

const textOrObject = (channel: string): Note[] => [{ title: `${channel}: a text` }, { title: `${channel}: an object` }]

const eitherUrlOrPhone = ['url', 'phone'].map(one => ({ required: [one], properties: { [one]: { type: 'string' } } }))

/** The notes of the forms of each channel, in the order of `formsOf`. */
const notes: Record<ClientChannel, Note[]> = {
  SMS: textOrObject('SMS'),
  WEASY: textOrObject('WEASY'),
  VK: textOrObject('VK'),
  TELEGRAM: [{ title: 'TELEGRAM' }],
  VIBER: [{ title: 'VIBER: a text' }, { title: 'VIBER: an object', members: { button: { title: 'A button' } } }],
  WHATSAPP: [
    {
      title: 'WHATSAPP: a text',
      members: {
        header: { title: 'A header; without a text there is none' },
        footer: { title: 'A footer; without a text there is none' },
        buttons: { items: { title: 'A button: an address or a number', oneOf: eitherUrlOrPhone } },
      },
    },
    {
      title: 'WHATSAPP: a template',
      members: {
        templateId: {
          byType: [
            { type: 'integer', description: 'The id that POST /templates answered' },
            { type: 'string', description: "The template's own name at Meta, and its language: `sale:en`" },
          ],
        },
      },
    },
    { title: 'WHATSAPP: a code' },
  ],
  FLASHCALL: [
    {
      byType: [
        { type: 'string', title: 'FLASHCALL: a text' },
        { type: 'integer', title: 'FLASHCALL: a number' },
      ],
    },
  ],
  VOICECODE: [
    { title: 'VOICECODE', members: { text: { description: 'With a code of 4 to 8 digits, together or apart' } } },
  ],
  TEXT_TO_SPEECH: [{ title: 'TEXT_TO_SPEECH' }],
  PUSH: [
    {
      title: 'PUSH',
      hidden: ['contentType'],
      members: { data: { description: 'At most 4096 characters as JSON, and 20 levels deep' } },
    },
  ],
}

// Schemas with their notes ------------------------------------------------------------------------------------------

/** The forms of the content in a channel: one schema, or a choice between several. */
export function contentFormsOf(channelType: ClientChannel): Schema {
  const forms = formsOf(channelType)
  const own = notes[channelType]
  if (forms.length !== own.length) throw new Error(`Each form of a content of ${channelType} needs one note`)
  const schemas = forms.map((form, i) => withNote({ ...form }, own[i]))
  const [first, ...others] = schemas
  return first && others.length === 0 ? first : { anyOf: schemas }
}

function withNote(schema: Schema, note: Note = {}): Schema {
  if (note.byType) return splitByType(schema, note.byType)
  const [given, ...others] = schema.anyOf ?? []
  // An optional member is a choice between its schema and null.
  if (given) return { ...schema, anyOf: [withNote(given, note), ...others] }
  const { title, description, oneOf } = note
  const { properties, items, ...rules } = schema
  return {
    ...(title && { title }),
    ...rules,
    ...(schema.format === 'uri' && { description: 'an http or https address' }),
    ...(properties && { required: schema.required ?? [], properties: membersOf(properties, note) }),
    ...(items && { items: withNote(items, note.items) }),
    ...(description && { description }),
    ...(oneOf && { oneOf }),
  }
}

function membersOf(properties: Record<string, Schema>, { hidden = [], members = {} }: Note): Record<string, Schema> {
  const shown = Object.entries(properties).filter(([name]) => !hidden.includes(name))
  return Object.fromEntries(shown.map(([name, schema]) => [name, withNote(schema, members[name])]))
}

/** The description belongs to the pattern: validation uses it as the message for a text of another form. */
const keywords: Record<TypeNote['type'], string[]> = {
  string: ['minLength', 'maxLength', 'pattern', 'description'],
  integer: ['minimum', 'maximum'],
}

const splitByType = (schema: Schema, byType: TypeNote[]): Schema => ({
  anyOf: byType.map(note => withNote(onlyOfType(schema, note.type), note)),
})

function onlyOfType(schema: Schema, type: TypeNote['type']): Schema {
  const rules = Object.entries(schema).filter(([keyword]) => keywords[type].includes(keyword))
  return { type, ...Object.fromEntries(rules) }
}
