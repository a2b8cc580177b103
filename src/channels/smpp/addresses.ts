import type { SmppSettings } from './settings.ts'

export type Address = { ton: number; npi: number; addr: string }

const ALPHANUMERIC = { ton: 5, npi: 0 }
const SHORT_NUMBER = { ton: 3, npi: 0 }
const INTERNATIONAL = { ton: 1, npi: 1 }

const MOST_SHORT_DIGITS = 6

/** An address with its type of number: a name, a short number of the network, or an international number. */
function addressOf(address: string, ton: number | undefined, npi: number | undefined): Address {
  const digits = /^\+?(\d+)$/.exec(address)?.[1]
  const kind = !digits ? ALPHANUMERIC : digits.length <= MOST_SHORT_DIGITS ? SHORT_NUMBER : INTERNATIONAL
  return { ton: ton ?? kind.ton, npi: npi ?? kind.npi, addr: digits ?? address }
}

type Kinds = Pick<SmppSettings, 'sourceTon' | 'sourceNpi' | 'destTon' | 'destNpi'>

export const sourceOf = (sender: string, { sourceTon, sourceNpi }: Kinds) => addressOf(sender, sourceTon, sourceNpi)
export const destinationOf = (number: string, { destTon, destNpi }: Kinds) => addressOf(number, destTon, destNpi)
