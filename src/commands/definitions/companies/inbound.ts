import { inboundChannels } from '../../../domain/inbound/rule.ts'
import type { Command } from '../../command.ts'

const inbound = () => import('../../companies/inbound.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }

export const inboundCommands: Command[] = [
  {
    name: 'inbound rule add',
    about: "Says where a company's inbound messages belong and which address is told of them; from now on.",
    options: {
      company,
      channel: { value: 'CHANNEL', about: inboundChannels.join(', '), required: true },
      sender: { value: 'NAME', about: 'Only messages to this sender name; by default to any', many: true },
      url: { value: 'URL', about: 'The address that gets the callbacks', required: true },
      center: { value: 'NAME', about: 'The traffic center, created if it is new; by default the default center' },
    },
    run: async call => (await inbound()).addOne(call),
  },
  {
    name: 'inbound rule list',
    about: 'Lists the rules for inbound messages, the oldest first. The first rule that matches a message counts.',
    options: { company: { value: 'N', about: 'Only of one company' } },
    run: async call => (await inbound()).listSome(call),
  },
  {
    name: 'inbound rule remove',
    about: 'Removes a rule for inbound messages; messages that were received stay unchanged.',
    options: {
      company,
      rule: { value: 'ID', about: 'The rule: `tidings inbound rule list` shows them', required: true },
    },
    run: async call => (await inbound()).removeOne(call),
  },
  {
    name: 'inbound center list',
    about: 'Lists the traffic centers of a company.',
    options: { company },
    run: async call => (await inbound()).listCompanyCenters(call),
  },
  {
    name: 'inbound center add',
    about: 'Adds a traffic center to a company; an existing center stays unchanged.',
    options: { company, name: { value: 'NAME', about: 'Its name', required: true } },
    run: async call => (await inbound()).addCenter(call),
  },
  {
    name: 'inbound center default',
    about: 'Makes a traffic center the default for new inbound messages that match no rule.',
    options: {
      company,
      name: { value: 'NAME', about: 'The center: `tidings inbound center list` shows them', required: true },
    },
    run: async call => (await inbound()).makeCenterDefault(call),
  },
]
