import { createKey, keyTypes } from '../domain/keys/keys.ts'
import { noCompany, orAdvise } from './advice.ts'
import { type Command, withDatabase } from './command.ts'
import { idOption } from './command-line.ts'
import { choiceOption } from './options.ts'

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
      const type = choiceOption(call, 'type', keyTypes)!
      await withDatabase(call.config, async ({ sql }) => {
        const key = await orAdvise(
          noCompany(companyId),
          sql.begin(tx => createKey(tx, companyId, type)),
        )
        call.print(key, `Key ${key.keyId}: ${key.key}\nKeep it: it is not shown again.`)
      })
    },
  },
]
