import { connectorNames } from '../../channels/connector-names.ts'
import { DRAIN_HOURS, MOST_DRAIN_HOURS } from '../../domain/gateways/gateway.ts'
import { brands } from '../../domain/numbering/brand.ts'
import type { Command } from '../command.ts'

const gateways = () => import('../operators/gateways.ts')

const gateway = { value: 'GATEWAY', about: 'Its id or name: `tidings gateway list` shows them', required: true }
const shared = {
  brands: {
    value: 'BRANDS',
    about: `The operators that it serves, of ${[...brands, 'OTHER'].join(',')}; any for all of them`,
  },
  rate: { value: 'RATE', about: 'The most parts per second, or none' },
  companies: {
    value: 'IDS',
    about: 'Companies that may use its sender names without registration, e.g. 1,2; none for no company',
  },
  name: { value: 'NAME', about: 'Its name' },
  set: { value: 'KEY=VALUE', about: 'A setting of the connector, or KEY=@FILE; null removes it', many: true },
}

export const gatewayCommands: Command[] = [
  {
    name: 'gateway list',
    about: 'Lists the gateways to operators and providers.',
    run: async call => (await gateways()).listAll(call),
  },
  {
    name: 'gateway add',
    about: 'Adds a gateway; running engines use it within a second.',
    options: {
      channel: { value: 'CHANNEL', about: 'The channel it serves, e.g. SMS', required: true },
      connector: { value: 'CONNECTOR', about: `The connector: ${connectorNames.join(', ')}`, required: true },
      ...shared,
    },
    run: async call => (await gateways()).addOne(call),
  },
  {
    name: 'gateway set',
    about: 'Changes a gateway; settings that are not given stay.',
    options: { gateway, ...shared },
    run: async call => (await gateways()).setOne(call),
  },
  {
    name: 'gateway pause',
    about: 'Pauses a gateway: other gateways of the same operators take over, or messages wait.',
    options: { gateway },
    run: async call => (await gateways()).pauseOne(call),
  },
  {
    name: 'gateway drain',
    about: 'Pauses a gateway and waits for the receipts of its messages, so that it can be removed.',
    options: {
      gateway,
      hours: {
        value: 'HOURS',
        about: `The hours to wait for receipts, at most ${MOST_DRAIN_HOURS}`,
        default: String(DRAIN_HOURS),
      },
    },
    run: async call => (await gateways()).drainOne(call),
  },
  {
    name: 'gateway resume',
    about: 'Ends the pause or the drain of a gateway.',
    options: { gateway },
    run: async call => (await gateways()).resumeOne(call),
  },
  {
    name: 'gateway remove',
    about: 'Removes a gateway; in demo mode the next start adds the simulated operators again.',
    options: { gateway },
    run: async call => (await gateways()).removeOne(call),
  },
  {
    name: 'gateway test',
    about: 'Sends one message through a gateway, beside the engines; nothing is billed or stored.',
    options: {
      gateway,
      to: { value: 'NUMBER', about: 'The number; for a bot also chat:ID, for push an address', required: true },
      sender: { value: 'NAME', about: 'The sender name', required: true },
      text: { value: 'TEXT', about: 'The text of the message', required: true },
      wait: { value: 'SECONDS', about: 'The time to wait for receipts', default: '10' },
    },
    run: async call => (await gateways()).testOne(call),
  },
]
