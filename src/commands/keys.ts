import { UsageError } from '../base/errors.ts'
import { createKey, type KeyType, keyTypes } from '../domain/keys/keys.ts'
import { type Command, withDatabase } from './command.ts'
import { idOption } from './command-line.ts'

export const keyCommands: Command[] = [
  {
    name: 'key create',
    about: 'Makes an API key of a company and shows its value, this once.',
    options: {
      company: { value: 'N', about: 'The company: `tidings company list` shows them', required: true },
      type: { value: 'TYPE', about: keyTypes.join(', '), required: true },
    },
    async run(call) {
      const companyId = idOption(call, 'company')
      const type = keyTypeIn(call.options.type!)
      await withDatabase(call.config, async ({ sql }) => {
        const key = await sql.begin(tx => createKey(tx, companyId, type))
        call.print(key, `Key ${key.keyId}: ${key.key}\nKeep it: it is not shown again.`)
      })
    },
  },
]

function keyTypeIn(text: string): KeyType {
  const type = text.toUpperCase()
  if (!keyTypes.includes(type as KeyType))
    throw new UsageError(`--type must be one of ${keyTypes.join(', ')}, not "${text}".`)
  return type as KeyType
}
