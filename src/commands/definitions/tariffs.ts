import type { Command } from '../command.ts'

const tariffs = () => import('../books/tariffs.ts')

const COLUMNS = 'senderType,brand,trafficType,pricingModel,from,price,priceMauBatch'

export const tariffCommands: Command[] = [
  {
    name: 'tariff list',
    about: 'Lists the tariffs of SMS to Russian numbers, and the prices of other channels and countries.',
    options: { partner: { value: 'LOGIN', about: 'The tariffs of this partner: its own before the general ones' } },
    run: async call => (await tariffs()).listInForce(call),
  },
  {
    name: 'tariff import',
    about: 'Loads tariffs from a file, all of them or none; other tariffs stay unchanged.',
    arguments: [
      {
        name: 'FILE',
        about: `A JSON list like \`tariffs\` of \`tariff list --json\`, or CSV: ${COLUMNS}; prices of other channels and countries as CSV: channelType,country,price`,
      },
    ],
    options: { partner: { value: 'LOGIN', about: "The partner's own tariffs; by default the general ones" } },
    run: async call => (await tariffs()).importFile(call),
  },
]
